/**
 * The state of a relayed stream: what may be written to the client, and how the stream ended. Pure, over a tap (same wire) or a
 * translator (other wire); both give bytes and facts.
 */
import { optional, stringOr } from "../../wire/json/Json.ts"
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { codecs, makeStreamTranslator } from "../../wire/Codec.ts"
import type { StreamEvent } from "../../wire/canonical/Event.ts"
import type { EncodeContext, StreamEncoder, StreamFacts, WireCodec } from "../../wire/WireCodec.ts"
import type { DeliveredPrefix } from "../request/DeliveredPrefix.ts"
import { framingOf } from "../reply/Frames.ts"
import type { AnswerWatch } from "../state/kept/AnswerWatch.ts"
import { eventScrub } from "./EventScrub.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

/** A tap or a translator, seen from the relay. */
export interface StreamSource {
  readonly facts: StreamFacts
  readonly push: (chunk: Buffer) => Buffer | string
  readonly end: () => Buffer | string
  /** Names of the blocks of the answer that the client does not get, as far as they have come; absent: it gets all. */
  readonly lost?: () => ReadonlyArray<string>
  /** Part of the stream that the client has, where another target may have to go on with it. */
  readonly sent?: DeliveredPrefix
}

/** Keeps what an encoder has written for the client. */
export type RecordDelivered = (encoder: StreamEncoder) => DeliveredPrefix

/** A source with a listener for what the client gets. */
const telling = (source: StreamSource, onSent: (bytes: Buffer | string) => void): StreamSource => {
  const reported = (bytes: Buffer | string): Buffer | string => {
    if (bytes.length > 0) onSent(bytes)
    return bytes
  }
  return { ...source, push: (chunk) => reported(source.push(chunk)), end: () => reported(source.end()) }
}

/** A tap with a decoder beside it, for a listener that needs the events in the bytes. */
const understanding = (
  client: WireCodec,
  tap: StreamSource,
  onEvent: (event: StreamEvent) => void,
  dialect: Dialect
): StreamSource => {
  const decoder = client.makeStreamDecoder(dialect)
  return {
    ...tap,
    push: (chunk) => {
      for (const event of decoder.push(chunk)) onEvent(event)
      return tap.push(chunk)
    }
  }
}

/**
 * Wires whose streams can go on from another upstream's own bytes: what our encoder would have written differs in no number or id. A
 * stream of another one is written by our encoder from its begin, when another target may have to go on with it.
 */
const relayable: ReadonlySet<WireCodec> = new Set([codecs.chat, codecs.messages, codecs.gemini, codecs.ollama])

/** `recorder`: another target may have to go on with the stream. */
export const streamSource = (
  client: WireCodec,
  call: UpstreamCall,
  context: EncodeContext,
  { onEvent, onSent }: AnswerWatch,
  recorder: RecordDelivered | null = null
): StreamSource => {
  const source =
    recorder === null
      ? plainSource(client, call, context, onEvent)
      : recordedSource(client, call, context, onEvent, recorder)
  const clean = scrubbed(source, call)
  return onSent === null ? clean : telling(clean, onSent)
}

/** Members of plain deltas; events of the others are numbered, or too few to matter. */
const plainMembers: Readonly<Partial<Record<WireName, string>>> = { chat: "content", messages: "text" }

/** Wraps a source so that it reads the stream without the credentials that the upstream was sent. */
const scrubbed = (source: StreamSource, { codec, request }: UpstreamCall): StreamSource => {
  const scrub = eventScrub(request.secrets, framingOf(codec), plainMembers[codec.name] ?? "")
  if (scrub === null) return source
  const push = (chunk: Buffer): Buffer | string => (chunk.length === 0 ? chunk : source.push(chunk))
  return {
    ...source,
    push: (chunk) => push(scrub.push(chunk)),
    end: () => {
      const last = push(scrub.end())
      const rest = source.end()
      if (last.length === 0) return rest
      return rest.length === 0 ? last : Buffer.concat([Buffer.from(last), Buffer.from(rest)])
    }
  }
}

const recordedSource = (
  client: WireCodec,
  call: UpstreamCall,
  context: EncodeContext,
  onEvent: AnswerWatch["onEvent"],
  recorder: RecordDelivered
): StreamSource => {
  const sent = recorder(client.makeStreamEncoder(context))
  if (call.sameWire && relayable.has(client)) {
    const source = plainSource(client, call, context, (event) => {
      onEvent?.(event)
      sent.hear(event)
    })
    return { ...source, sent }
  }
  const recording: WireCodec = { ...client, makeStreamEncoder: () => ({ encode: sent.feed }) }
  return { ...makeStreamTranslator(recording, call.codec, context, onEvent, call.dialect), sent }
}

const plainSource = (
  client: WireCodec,
  call: UpstreamCall,
  context: EncodeContext,
  onEvent: AnswerWatch["onEvent"]
): StreamSource => {
  const tap = (): StreamSource => {
    const plain = client.makeStreamTap({
      hideUsage: call.hideUsage,
      dialect: call.dialect,
      ...optional("request", context.request),
      ...optional("model", stringOr(context.request?.["model"]))
    })
    return onEvent === null ? plain : understanding(client, plain, onEvent, call.dialect)
  }
  return call.sameWire ? tap() : makeStreamTranslator(client, call.codec, context, onEvent, call.dialect)
}

/** Bytes held back until the first content, so that a failure before it can still go to another target. */
export interface HoldBack {
  readonly add: (bytes: Buffer | string) => void
  readonly bytes: () => number
  readonly take: () => Buffer | string
}

export const makeHoldBack = (): HoldBack => {
  let buffers: Array<Buffer> = []
  let size = 0
  return {
    add: (bytes) => {
      if (bytes.length === 0) return
      const buffer = typeof bytes === "string" ? Buffer.from(bytes) : bytes
      buffers.push(buffer)
      size += buffer.length
    },
    bytes: () => size,
    take: () => {
      const [only] = buffers
      const all = buffers.length === 1 && only !== undefined ? only : Buffer.concat(buffers, size)
      buffers = []
      size = 0
      return all
    }
  }
}
