/**
 * From a decided target to the bytes that are sent to it: which wire, which path, which headers, which body.
 * The client's own wire is spoken whenever the upstream knows it, so that the request can pass through untouched.
 */
import * as Either from "effect/Either"
import { headerOf } from "../auth/Credentials.ts"
import type { WireName } from "../domain/Wire.ts"
import type { UpstreamRequest } from "../egress/Upstream.ts"
import type { ModelFacts } from "../providers/Catalog.ts"
import type { Target } from "../routing/ModelResolver.ts"
import { codecs } from "../wire/Codec.ts"
import type { EncodedRequest, WireCodec } from "../wire/WireCodec.ts"
import { translateRequest } from "../wire/Codec.ts"
import type { AttemptFailure } from "./Attempt.ts"
import type { Exchange, Work } from "./Exchange.ts"

export interface UpstreamCall {
  readonly request: UpstreamRequest
  readonly wire: WireName
  readonly codec: WireCodec
  /** The answer is relayed byte for byte. */
  readonly sameWire: boolean
  /** We asked for usage on our own account: the client must not see it. */
  readonly hideUsage: boolean
  readonly dropped: ReadonlyArray<string>
}

/** The client's wire when the account speaks it, else the account's first one. */
export const chooseWire = (client: WireName, offered: ReadonlyArray<WireName>): WireName | null =>
  offered.includes(client) ? client : (offered[0] ?? null)

const refused = (status: number, reason: string, message: string): AttemptFailure => ({
  status,
  answered: false,
  reason,
  message,
  retryAfterMs: null
})

/** Client headers that belong to the format itself and travel with a body that is passed through. */
const formatHeaders: Readonly<Record<WireName, ReadonlyArray<string>>> = {
  chat: ["openai-beta"],
  messages: ["anthropic-version", "anthropic-beta"],
  responses: ["openai-beta"],
  gemini: [],
  ollama: []
}

const headersFor = (
  exchange: Exchange,
  endpointHeaders: ReadonlyArray<string>,
  codec: WireCodec,
  sameWire: boolean,
  stream: boolean
): ReadonlyArray<string> => {
  const headers: Array<string> = []
  const own = sameWire ? formatHeaders[exchange.wire] : []
  for (let i = 0; i + 1 < endpointHeaders.length; i += 2) {
    const name = endpointHeaders[i] ?? ""
    // The body was written for the version the client names; the registry's default is for bodies we write.
    if (own.includes(name) && headerOf(exchange.headers, name) !== null) continue
    headers.push(name, endpointHeaders[i + 1] ?? "")
  }
  for (const name of own) {
    const value = headerOf(exchange.headers, name)
    if (value !== null) headers.push(name, value)
  }
  headers.push(
    "content-type",
    codec.requestContentType,
    "accept",
    stream ? codec.streamContentType : "application/json",
    // Answers are watched as they pass: compressed ones would have to be unpacked first.
    "accept-encoding",
    "identity"
  )
  return headers
}

const translated = (
  work: Work,
  target: WireCodec,
  model: string,
  facts: ModelFacts
): Either.Either<EncodedRequest, AttemptFailure> =>
  Either.mapLeft(
    translateRequest(work.exchange.codec, target, work.parsed, {
      model,
      stream: work.envelope.stream,
      ...facts
    }),
    (invalid) => refused(400, "request_not_translatable", invalid.message)
  )

/** Builds the call; Left when this target cannot be asked this question. */
export const upstreamCall = (
  work: Work,
  { account, model }: Target,
  facts: () => ModelFacts
): Either.Either<UpstreamCall, AttemptFailure> => {
  const { envelope, exchange } = work
  const wire = chooseWire(exchange.wire, account.wires)
  const endpoint = wire === null ? undefined : account.endpoints[wire]
  if (wire === null || endpoint === undefined) {
    return Either.left(
      refused(502, "no_common_wire", `${account.spec.name} speaks no wire this gateway can translate to.`)
    )
  }
  const codec = codecs[wire]
  // A wire may have a second dialect with another codec: it is translated like any other.
  const sameWire = codec === exchange.codec
  const request = (body: Buffer | string): UpstreamRequest => ({
    origin: endpoint.origin,
    path: endpoint.path(model, envelope.stream),
    method: "POST",
    headers: headersFor(exchange, endpoint.headers, codec, sameWire && !envelope.needsRewrite, envelope.stream),
    body
  })
  if (sameWire && !envelope.needsRewrite) {
    const relay = codec.relayRequest(exchange.body, work.parsed, model, envelope)
    return Either.right({
      request: request(relay.body),
      wire,
      codec,
      sameWire,
      hideUsage: relay.hideUsage,
      dropped: []
    })
  }
  return Either.map(translated(work, codec, model, facts()), ({ body, dropped }) => ({
    request: request(JSON.stringify(body)),
    wire,
    codec,
    sameWire,
    hideUsage: !envelope.wantsUsage,
    dropped
  }))
}
