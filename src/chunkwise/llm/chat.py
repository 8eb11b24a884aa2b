"""Ask any server that speaks OpenAI's `POST {url}/chat/completions`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import KW_ONLY, dataclass, field
from threading import Event

from chunkwise.core.errors import AnswerError
from chunkwise.core.protocols import Answer, Prompt
from chunkwise.llm.answers import Answers, key_of
from chunkwise.net import Failure, flaw, post, quote, without_keys
from chunkwise.text.unicode import encodable

# What an answer costs grows with the tries; a prompt that fails so often is told and passed over.
_TRIES = 4

# These say that no prompt will be answered now: a wrong key, host or model, no quota left, a server that is down.
# Anything else may be one prompt's fault.
_HOPELESS = (401, 403, 404, 405, 429, 502, 503, 504)

# Fields that some models or servers refuse, with what they take instead. Source: OpenAI's API reference on reasoning
# models (`max_completion_tokens`, no `temperature`, no `seed`); local servers without `response_format`.
_INSTEAD: Mapping[str, str] = {
    "max_tokens": "max_completion_tokens",
    "response_format": "",
    "temperature": "",
    "seed": "",
}

# Reasoning models of local servers think aloud before they answer.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
# How a chat model declines in running text; in OpenAI's form it fills `refusal` instead.
_DECLINES = re.compile(
    r"(?i)\W*(?:(?:i['\u2019]?m|i am|we['\u2019]re)\s+)?(?:so |very )?sorry\b|\W*as an ai\b"
    r"|\W*i (?:can['\u2019]?t|cannot|can not|won['\u2019]t|am (?:not able|unable))\b"
)

_REMEDIES = {
    400: "check the model's name, and that the prompt is within its context",
    404: "check the model's name, and that the URL is the part before /chat/completions",
    413: "the prompt is too long for the server; try a smaller window",
}


@dataclass(frozen=True, slots=True)
class Chat:
    """Ask a server. A key comes from CHUNKWISE_API_KEY, or for OpenAI's own host from OPENAI_API_KEY.

    `window` is how many tokens of a document a prompt may hold, `concurrency` how many prompts are out at once,
    `timeout` in seconds without a sign of life. With `answers`, no prompt is asked twice: a run that was stopped goes
    on where it was. Answers are those of temperature 0 and a fixed seed, as far as the server minds them.
    """

    url: str
    model: str
    _: KW_ONLY
    window: int = field(default=8192, compare=False)
    concurrency: int = field(default=4, compare=False)
    timeout: float = field(default=120.0, compare=False)
    answers: Answers | None = field(default=None, compare=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)
    _refused: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if wrong := flaw(self.url):
            raise AnswerError(wrong)
        for name in ("window", "concurrency", "timeout"):
            if getattr(self, name) <= 0:
                raise AnswerError(f"{name}={getattr(self, name)} must be more than 0")

    @property
    def name(self) -> str:
        """The URL with its model, as a recipe writes it."""
        return f"{self.url}#{self.model}"

    def __call__(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Answer prompts in their order; equal ones are asked once.

        Of those that share a beginning one goes first, so that the server has read it when the others come.
        Raises: AnswerError if the server is not there or refuses the key or the model; what was answered is kept.
        """
        keys = [self.key(prompt) for prompt in prompts]
        found = {key: Answer(text) for key, text in self.kept(keys).items()}
        missing = {key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in found}
        first = {prompt.shared: key for key, prompt in reversed(missing.items())}
        ahead = {key: missing[key] for key in reversed(first.values())}
        for part in (ahead, {key: prompt for key, prompt in missing.items() if key not in ahead}):
            found |= self._ask_all(part)
        return [found[key] for key in keys]

    def key(self, prompt: Prompt) -> bytes:
        """Hash what the answer to a prompt depends on."""
        shape = [prompt.shared, prompt.text, prompt.max_tokens, prompt.form]
        return key_of(["chat-1", self.url.rstrip("/"), self.model, *shape])

    def kept(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the answers that are kept from before."""
        return self.answers.known(keys) if self.answers is not None else {}

    def _ask_all(self, prompts: Mapping[bytes, Prompt]) -> dict[bytes, Answer]:
        """Ask several at once. What is on its way when another one stops the run is answered, and kept, as well."""
        if not prompts:
            return {}
        found: dict[bytes, Answer] = {}
        stopped = Event()
        with ThreadPoolExecutor(max_workers=min(self.concurrency, len(prompts))) as pool:
            asked: dict[Future[Answer | None], bytes] = {
                pool.submit(self._ask_and_keep, *one, stopped): one[0] for one in prompts.items()
            }
            try:
                for done in as_completed(asked):
                    if (answer := done.result()) is not None:
                        found[asked[done]] = answer
            finally:
                stopped.set()  # also where the user interrupts
        return found

    def _ask_and_keep(self, key: bytes, prompt: Prompt, stopped: Event) -> Answer | None:
        """Ask, unless the run was stopped: None. It is stopped by the one that fails, before another can begin."""
        if stopped.is_set():
            return None
        try:
            answer = self._ask(prompt)
            if self.answers is not None and not answer.failure:
                self.answers.keep(key, answer.text)
        except BaseException:
            stopped.set()
            raise
        return answer

    def _ask(self, prompt: Prompt) -> Answer:
        """Send one prompt, without what the server refused before."""
        url = self.url.rstrip("/") + "/chat/completions"
        while True:
            request = self._request(prompt)
            content = json.dumps(request).encode()
            said = post(url, content, timeout=self.timeout, sleep=self.sleep, remedies=_REMEDIES, tries=_TRIES)
            if isinstance(said, bytes):
                return _answer(said, prompt)
            if not self._learns(said, request):
                break
        if said.status in _HOPELESS or 300 <= said.status < 400 or not said.reached:
            raise AnswerError(f"{url}: {said}")
        return Answer(failure=str(said))

    def _request(self, prompt: Prompt) -> dict[str, object]:
        """Write a request. The document stands first, where servers look for what they have read before."""
        fields: dict[str, object] = {"max_tokens": prompt.max_tokens, "temperature": 0, "seed": 0}
        if prompt.form == "json":
            fields["response_format"] = {"type": "json_object"}
        taken = {_INSTEAD[name] if name in self._refused else name: value for name, value in fields.items()}
        message = {"role": "user", "content": encodable(prompt.shared + prompt.text)}
        return {"model": self.model, "messages": [message], **{name: taken[name] for name in taken if name}}

    def _learns(self, failure: Failure, request: Mapping[str, object]) -> bool:
        """Note the fields of a request that the server refuses; tell whether there were any."""
        if failure.status not in (400, 422):
            return False
        named = {name for name in _INSTEAD if name in request and re.search(rf"\b{name}\b", failure.reason)}
        self._refused.update(named)
        return bool(named)


def _answer(said: bytes, prompt: Prompt) -> Answer:
    """Read what a model said.

    A key that a server echoes is kept out of it: answers are written to disk.
    """
    try:
        content = json.loads(said)
        choice = content["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        text = message.get("content") or ""
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Answer(failure=f"HTTP 200, but no answer in OpenAI's form: {quote(said)!r}")
    if not isinstance(text, str):
        return Answer(failure=f"HTTP 200, but the content is no text: {quote(said)!r}")
    text = without_keys(_THOUGHTS.sub("", text)).strip()
    refusal = message.get("refusal")
    if refusal or reason == "content_filter" or _DECLINES.match(text):
        return Answer(failure=f"the model refuses: {quote(refusal if isinstance(refusal, str) else text)!r}")
    if reason == "length" and (prompt.form == "json" or not text):
        return Answer(failure=f"the answer is cut off after {prompt.max_tokens} tokens")
    return Answer(text) if text else Answer(failure="the answer is empty")
