"""Language models: prompts in, answers out, none of them paid for twice."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import LLM
from chunkwise.core.recipes import resolver
from chunkwise.llm.answers import Answers, default_answers
from chunkwise.llm.chat import Chat
from chunkwise.llm.custom import Custom
from chunkwise.llm.estimate import Estimate

__all__ = ["Answers", "Chat", "Custom", "Estimate", "custom_llm", "llm"]

_custom: dict[str, Custom] = {}


def llm(spec: str) -> LLM:
    """Find a language model: "https://HOST/v1#MODEL", or the name of a function that was given to `custom_llm`.

    Answers of a server are kept in a file, which CHUNKWISE_ANSWERS names; set it to "off" to keep none.
    Opens no connection. Raises: RecipeError if `spec` is neither.
    """
    if spec in _custom:
        return _custom[spec]
    url, _, model = spec.partition("#")
    if model and url.lower().startswith(("http://", "https://")):
        return Chat(url, model, answers=default_answers())
    names = f"known: {', '.join(_custom)}; " if _custom else ""
    raise RecipeError(
        f"no language model {spec!r}; {names}give 'https://HOST/v1#MODEL' for a server that speaks OpenAI's protocol, "
        "or name a function of your own with custom_llm"
    )


def custom_llm(name: str, answer: Callable[[str], str]) -> LLM:
    """Make a language model of a function from a prompt to an answer, and let recipes find it by `name`.

    A function that is given once more takes the place of the one before. Its answers are not kept, so it is to answer
    the same prompt alike; what it raises is not caught. A recipe pickles if the function does.

    >>> custom_llm("echo", lambda prompt: prompt[-5:]).name
    'echo'
    """
    if not name.strip() or "#" in name:
        raise RecipeError(f"{name!r} can't name a language model; choose a name without #")
    _custom[name] = Custom(name, answer)
    return _custom[name]


resolver(LLM, llm)
