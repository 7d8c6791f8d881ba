/** Hands an answer on without the credentials that its request carried: headers, body, whatever the pieces in which it comes. */
import type { SentSecrets } from "../../kernel/secrets/SentSecrets.ts"
import type { UpstreamHeaders } from "./UpstreamHeaders.ts"
import type { UpstreamSink } from "./UpstreamSink.ts"

class ScrubbedHeaders implements UpstreamHeaders {
  readonly #headers: UpstreamHeaders
  readonly #secrets: SentSecrets

  constructor(headers: UpstreamHeaders, secrets: SentSecrets) {
    this.#headers = headers
    this.#secrets = secrets
  }

  get(name: string): string | null {
    const value = this.#headers.get(name)
    return value === null ? null : this.#secrets.text(value)
  }

  startingWith(prefixes: ReadonlyArray<string>): ReadonlyArray<string> {
    return this.#headers.startingWith(prefixes).map(this.#secrets.text)
  }

  *[Symbol.iterator](): IterableIterator<readonly [string, string]> {
    for (const [name, value] of this.#headers) yield [this.#secrets.text(name), this.#secrets.text(value)]
  }
}

/**
 * Checks whether an answer has a length that is passed on with it: the mark is as long as the text that it replaces.
 * Texts of the wires are written anew.
 */
const keepsLength = (headers: UpstreamHeaders): boolean =>
  headers.get("content-length") !== null &&
  !/\bjson\b|event-stream/i.test(headers.get("content-type") ?? "application/json")

export const scrubbedSink = (sink: UpstreamSink, secrets: SentSecrets): UpstreamSink => {
  if (secrets.isEmpty) return sink
  let body = secrets.stream()
  const rest = (): void => {
    const last = body.end()
    if (last.length > 0) sink.onData(last)
  }
  return {
    onHeaders: (status, headers) => {
      if (keepsLength(headers)) body = secrets.stream(true)
      return sink.onHeaders(status, new ScrubbedHeaders(headers, secrets))
    },
    onData: (chunk) => {
      const clean = body.push(chunk)
      return clean.length === 0 || sink.onData(clean)
    },
    onEnd: () => {
      rest()
      sink.onEnd()
    },
    onFail: (failure) => {
      rest()
      sink.onFail(failure)
    }
  }
}
