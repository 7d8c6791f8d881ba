/** An upstream that answers each wire in its own form, as its path asks: the same text everywhere. */
import { codecs } from "../../src/wire/Codec.ts"
import { replay } from "../../src/wire/canonical/Replay.ts"
import type { Response } from "../../src/wire/canonical/Response.ts"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import * as Fake from "./FakeUpstream.ts"

const wireOf = (url: string): WireName => {
  if (url.includes(":generateContent") || url.includes(":streamGenerateContent")) return "gemini"
  if (url.includes("/messages")) return "messages"
  if (url.includes("/responses")) return "responses"
  return url.includes("/api/chat") ? "ollama" : "chat"
}

export const answeredWith =
  (parts: Response["parts"], more: Partial<Response> = {}): Fake.Answer =>
  (response, request) => {
    const wire = wireOf(request.url)
    const body = JSON.parse(request.body) as { readonly stream?: boolean; readonly model?: string }
    const answer: Response = {
      id: "up-1",
      model: "m",
      createdMs: 1_700_000_000_000,
      parts,
      stop: { reason: "stop", raw: "stop", sequence: null },
      usage: { in: 10, out: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 } as Response["usage"],
      logprobs: null,
      ...more
    }
    const context = { nowMs: 1_700_000_000_000, fallbackId: "up-1", model: "m", wantsUsage: true }
    const codec = codecs[wire]
    const isStream = wire === "gemini" ? request.url.includes(":stream") : body.stream === true
    if (!isStream) return Fake.json(codec.encodeResponse(answer, context))(response, request)
    const encoder = codec.makeStreamEncoder(context)
    const text = replay(answer)
      .map((event) => encoder.encode(event))
      .join("")
    response.writeHead(200, { "content-type": codec.streamContentType })
    response.end(text)
    return undefined
  }

export const saying = (text: string): Fake.Answer => answeredWith([{ type: "text", text }])
