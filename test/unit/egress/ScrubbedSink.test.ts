import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { hopSecrets } from "../../../src/net/egress/proxy/HopSecrets.ts"
import { scrubbedSink } from "../../../src/net/egress/ScrubbedSink.ts"
import { transportFailure } from "../../../src/net/egress/TransportFailure.ts"
import { fromRaw, type UpstreamHeaders } from "../../../src/net/egress/UpstreamHeaders.ts"
import { bothSecrets, noSecrets, sentSecrets } from "../../../src/kernel/secrets/SentSecrets.ts"

const secret = "key-of-the-account-0123456789"

/** What a sink gets of an answer. */
const received = (
  chunks: ReadonlyArray<string>,
  headers: Readonly<Record<string, string>> = {},
  secrets = sentSecrets([secret]),
  ending: "end" | "fail" = "end"
) => {
  const got: { headers: UpstreamHeaders | null; chunks: Array<string>; ends: Array<string> } = {
    headers: null,
    chunks: [],
    ends: []
  }
  const sink = scrubbedSink(
    {
      onHeaders: (_status, given) => {
        got.headers = given
      },
      onData: (chunk) => got.chunks.push(chunk.toString()) < 0,
      onEnd: () => void got.ends.push("end"),
      onFail: ({ kind }) => void got.ends.push(kind)
    },
    secrets
  )
  const raw = Object.entries(headers).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)])
  sink.onHeaders(200, fromRaw(raw))
  for (const chunk of chunks) sink.onData(Buffer.from(chunk))
  if (ending === "end") sink.onEnd()
  else sink.onFail(transportFailure("reset"))
  return got
}

describe("an answer that holds what was sent", () => {
  it("comes without it, in headers by whichever way they are read", () => {
    const { headers } = received([], { "x-request-id": `id ${secret}`, "x-plain": "plain" })
    assert.strictEqual(headers?.get("x-request-id"), "id [redacted]")
    assert.deepStrictEqual(headers?.startingWith(["x-"]), ["x-request-id", "id [redacted]", "x-plain", "plain"])
    assert.deepStrictEqual(
      [...(headers ?? [])],
      [
        ["x-request-id", "id [redacted]"],
        ["x-plain", "plain"]
      ]
    )
  })

  it("comes without it in a body of any pieces, and with what was held back before its end", () => {
    const { chunks, ends } = received(["It is key-of-", "the-account-0123", "456789. Or key-of-", "them"])
    assert.deepStrictEqual(chunks, ["It is ", "[redacted]. Or ", "key-of-them"])
    assert.deepStrictEqual(ends, ["end"])
    const broken = received(["a key-of-"], {}, undefined, "fail")
    assert.deepStrictEqual([broken.chunks, broken.ends], [["a ", "key-of-"], ["reset"]])
  })

  it("keeps its length where that was told and is passed on", () => {
    const audio = { "content-type": "audio/mpeg", "content-length": "40" }
    assert.deepStrictEqual(received([`ID3 ${secret}`], audio).chunks, [`ID3 ${"*".repeat(secret.length)}`])
    const json = { "content-type": "application/json", "content-length": "40" }
    assert.deepStrictEqual(received([`"${secret}"`], json).chunks, ['"[redacted]"'])
  })

  it("is the same object where nothing was sent", () => {
    const sink = { onHeaders: () => true, onData: () => true, onEnd: () => {}, onFail: () => {} }
    assert.strictEqual(scrubbedSink(sink, noSecrets), sink)
  })

  it("comes without the password of its proxy, too", () => {
    const hop = { username: "me", password: Redacted.make("proxy-password-42") }
    const both = bothSecrets(sentSecrets([secret]), hopSecrets(hop))
    const basic = Buffer.from("me:proxy-password-42").toString("base64")
    const got = received([`proxy-password-42, ${secret}, ${basic}`], {}, both).chunks.join("")
    // The last characters of base64 belong to the neighbours, too.
    assert.match(got, /^\[redacted\], \[redacted\], \[redacted\].{0,3}$/)
    assert.strictEqual(hopSecrets({ username: null, password: null }), noSecrets)
    assert.notStrictEqual(hopSecrets({ ...hop, password: Redacted.make("another-password-42") }), hopSecrets(hop))
  })
})
