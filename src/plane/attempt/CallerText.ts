/**
 * Text that the caller sent with a call, so that its text can be removed from the upstream's
 * (`plane/resilience/failure/Echo`). Pure and lazy.
 */
import { createHash } from "node:crypto"
import type { CallerText } from "../resilience/failure/Echo.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Work } from "../request/Exchange.ts"

/** Bytes hashed at either end of a body, enough to distinguish requests: a conversation grows at its end. */
const fingerprintBytes = 64 * 1024

const fingerprintOf = ({ body, exchange }: Work): string =>
  createHash("sha256")
    .update(`${exchange.path}\n${body.length}\n`)
    .update(body.subarray(0, fingerprintBytes))
    .update(body.subarray(-fingerprintBytes))
    .digest("base64")

/** The wires' own headers that travel with a request. */
const travelling = ["anthropic-beta", "anthropic-version", "openai-beta"]

const headerWords = ({ exchange: { headers } }: Work): ReadonlyArray<string> =>
  travelling.flatMap((name) => headers[name] ?? []).flatMap((value) => value.split(",").concat(value))

const besides = (work: Work, { model }: Target): ReadonlyArray<string> => [
  model,
  work.envelope.model,
  work.exchange.path,
  ...headerWords(work),
  ...(work.handoff === undefined ? [] : [work.handoff.text]),
  ...(work.resumption === undefined ? [] : [work.resumption.sent.text()])
]

/** A class, because V8 keeps the getters of an object literal, and with them the whole request, until a full collection. */
class TextOfWork implements CallerText {
  readonly #work: Work
  readonly #target: Target

  constructor(work: Work, target: Target) {
    this.#work = work
    this.#target = target
  }

  /** `parsed` holds the earlier turns that a request goes on from as well. */
  get body(): CallerText["body"] {
    const { asked, parsed } = this.#work
    return asked === parsed ? parsed : { asked, whole: parsed }
  }

  get beside(): ReadonlyArray<string> {
    return besides(this.#work, this.#target)
  }

  fingerprint(): string {
    return fingerprintOf(this.#work)
  }
}

export const callerTextOf = (work: Work, target: Target): CallerText => new TextOfWork(work, target)
