import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { operatorsOwn } from "../../../../src/contract/domain/ContentPermission.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import * as Dns from "../../../../src/net/egress/Dns.ts"
import * as PublicFetch from "../../../../src/net/egress/PublicFetch.ts"
import * as UpstreamSettings from "../../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../../src/subjects/flags/service.ts"
import { layerMemory } from "../../../../src/subjects/flags/repo.ts"
import {
  cacheKey,
  capacityBytes,
  lifetimeMs,
  makeMediaCache,
  maxEntries
} from "../../../../src/plane/media/MediaCache.ts"
import { layer, maxLinks, MediaFetch, shownUrl } from "../../../../src/plane/media/MediaFetch.ts"
import { linksToFetch, needsFetch } from "../../../../src/plane/media/MediaNeeds.ts"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import * as Timers from "../../../../src/platform/Timers.ts"
import type { Conversation, Part } from "../../../../src/wire/canonical/Conversation.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import * as Fake from "../../../support/FakeUpstream.ts"

const fetching = layer.pipe(
  Layer.provide(PublicFetch.layer),
  Layer.provide(Flags.layer),
  Layer.provide(
    Layer.mergeAll(
      Dns.layer,
      Timers.layer,
      UpstreamSettings.layerOf({ connectTimeoutMs: 10_000 }),
      layerMemory({ OUTBOUND_SSRF_GUARD_ENABLED: "false" }),
      AppConfig.layerOf({ dataDir: "/nowhere" })
    )
  )
)

const png = Buffer.concat([Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"), Buffer.alloc(40, 7)])
const picture = (type = "image/png") => Fake.text(png, { headers: { "content-type": type } })

/** A user message of a chat client. */
const conversation = (...content: ReadonlyArray<Part>): Conversation => ({
  ...Either.getOrThrow(codecs.chat.decodeRequest({ model: "m", messages: [{ role: "user", content: "x" }] })),
  messages: [{ role: "user", parts: content }]
})
const image = (url: string): Part => ({ type: "image", source: { kind: "url", url } })
const file = (url: string): Part => ({ type: "file", source: { kind: "url", url } })

const inline = (asked: Conversation, target: WireName = "gemini", owner = "") =>
  Effect.flatMap(MediaFetch, (service) => service.inlineMedia(asked, target, owner, operatorsOwn))

const partsOf = ({ messages }: Conversation) => messages.flatMap(({ parts }) => parts)

describe("what a target cannot follow", () => {
  const cases: ReadonlyArray<readonly [target: WireName, part: Part, fetched: boolean]> = [
    ["responses", image("http://a.example/x"), false],
    ["responses", file("https://a.example/x"), false],
    ["messages", image("https://a.example/x"), false],
    ["messages", image("http://a.example/x"), true],
    ["gemini", image("https://a.example/x"), true],
    ["gemini", file("https://www.youtube.com/watch?v=1"), false],
    ["gemini", file("https://youtu.be/1"), false],
    ["gemini", file("gs://bucket/x"), false],
    ["gemini", file("https://youtube.com.evil.example/x"), true],
    ["ollama", image("https://a.example/x"), true],
    ["chat", image("https://a.example/x"), false],
    // The client speaks this wire itself.
    ["chat", file("https://a.example/x"), false]
  ]
  for (const [target, part, fetched] of cases) {
    const url = part.type === "image" || part.type === "file" ? JSON.stringify(part.source) : ""
    it(`${target}: ${part.type} ${url}`, () => assert.strictEqual(needsFetch(conversation(part), target), fetched))
  }

  it("files on the chat wire, and links in tool results, each once", () => {
    const asked: Conversation = {
      ...conversation(
        file("https://a.example/1"),
        {
          type: "tool_result",
          callId: "c",
          isError: false,
          content: [{ type: "file", source: { kind: "url", url: "https://a.example/2" } }]
        },
        file("https://a.example/1")
      ),
      wire: "messages"
    }
    assert.deepStrictEqual(linksToFetch(asked, "chat"), [
      { url: "https://a.example/1", asImage: false },
      { url: "https://a.example/2", asImage: false }
    ])
  })
})

describe("fetching", () => {
  it.scopedLive("puts the bytes in place of the link, also inside tool results, and fetches each link once", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      fake.always(picture())
      const url = `${fake.origin}/a.png?sig=1`
      const asked = conversation(image(url), { type: "text", text: "and" }, image(url), {
        type: "tool_result",
        callId: "c",
        isError: false,
        content: [{ type: "image", source: { kind: "url", url } }]
      })
      const source = { kind: "base64", mediaType: "image/png", data: png.toString("base64") } as const
      assert.deepStrictEqual(partsOf(yield* inline(asked)), [
        { type: "image", source },
        { type: "text", text: "and" },
        { type: "image", source },
        { type: "tool_result", callId: "c", isError: false, content: [{ type: "image", source }] }
      ])
      assert.strictEqual(fake.requests.length, 1)
      assert.strictEqual(fake.requests[0]?.url, "/a.png?sig=1")
    }).pipe(Effect.provide(fetching))
  )

  it.scopedLive("the next turn does not fetch again, another key's does", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      fake.always(picture())
      const asked = conversation(image(`${fake.origin}/a.png`))
      yield* inline(asked, "gemini", "k1")
      yield* inline(asked, "ollama", "k1")
      assert.strictEqual(fake.requests.length, 1)
      yield* inline(asked, "gemini", "k2")
      assert.strictEqual(fake.requests.length, 2)
    }).pipe(Effect.provide(fetching))
  )

  it.scopedLive("trusts the bytes more than the label", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      for (const label of ["image/jpeg", "application/octet-stream", "text/plain", "image/png; charset=x"]) {
        fake.enqueue(picture(label))
        const [part] = partsOf(yield* inline(conversation(image(`${fake.origin}/${encodeURIComponent(label)}`))))
        assert.deepInclude(part, {
          source: { kind: "base64", mediaType: "image/png", data: png.toString("base64") }
        })
      }
    }).pipe(Effect.provide(fetching))
  )

  it.scopedLive("files may be PDFs, sound and text", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      const as = (body: string, type: string) => Fake.text(body, { headers: { "content-type": type } })
      fake.enqueue(as("%PDF-1.7 …", "application/pdf"))
      const [pdf] = partsOf(yield* inline(conversation(file(`${fake.origin}/a`))))
      assert.deepInclude(pdf, {
        source: { kind: "base64", mediaType: "application/pdf", data: Buffer.from("%PDF-1.7 …").toString("base64") }
      })
      fake.enqueue(as("grün", "text/markdown; charset=utf-8"))
      const [text] = partsOf(yield* inline(conversation(file(`${fake.origin}/b`))))
      assert.deepInclude(text, { source: { kind: "text", text: "grün" } })
      fake.enqueue(as("RIFF", "audio/wav"))
      const [sound] = partsOf(yield* inline(conversation(file(`${fake.origin}/c`))))
      assert.deepInclude(sound, { source: { kind: "base64", mediaType: "audio/wav", data: "UklGRg==" } })
      for (const [index, head] of ["\0\0\0\u0018ftypmp42", "RIFF0000AVI ", "FLV\u0001"].entries()) {
        fake.enqueue(as(head, "video/mp4"))
        const [film] = partsOf(yield* inline(conversation(file(`${fake.origin}/film-${index}`))))
        assert.deepInclude(film, {
          source: { kind: "base64", mediaType: "video/mp4", data: Buffer.from(head).toString("base64") }
        })
      }
    }).pipe(Effect.provide(fetching))
  )

  const page = (type: string) => Fake.text("<html>", { headers: { "content-type": type } })
  const refusals: ReadonlyArray<readonly [name: string, answer: Fake.Answer, part: "image" | "file", why: RegExp]> = [
    ["an error status", Fake.text("no", { status: 404 }), "image", /answered 404/],
    ["a page that calls itself a picture", page("image/png"), "image", /no picture, sound, film, PDF or text/],
    ["a page where a picture should be", page("text/html"), "image", /It is no picture\./],
    ["a page that calls itself a PDF", page("application/pdf"), "file", /no picture, sound, film, PDF or text/],
    ["a page that calls itself a film", page("video/mp4"), "file", /no picture, sound, film, PDF or text/],
    ["bytes without a label or a known beginning", page("application/octet-stream"), "file", /no picture/],
    ["an empty body", Fake.text("", { headers: { "content-type": "image/png" } }), "image", /no picture/],
    [
      "a redirect to metadata",
      Fake.text("", { status: 302, headers: { location: "http://169.254.169.254/" } }),
      "image",
      /outbound policy/
    ],
    ["a broken answer", Fake.truncated("x"), "image", /broke off/],
    [
      "a huge one",
      Fake.silence(["x"], { headers: { "content-type": "image/png", "content-length": "3000000000" } }),
      "image",
      /larger than 20 MiB/
    ]
  ]
  for (const [name, answer, kind, why] of refusals) {
    it.scopedLive(`${name} is a 400 that names the link without its query`, () =>
      Effect.gen(function* () {
        const fake = yield* Fake.start
        fake.always(answer)
        const url = `${fake.origin}/dir/a.png?X-Signature=secret`
        const failure = yield* Effect.flip(inline(conversation(kind === "image" ? image(url) : file(url))))
        assert.strictEqual(failure.code, "media_not_fetched")
        assert.include(failure.message, `${fake.origin}/dir/a.png could not be fetched`)
        assert.notInclude(failure.message, "secret")
        assert.match(failure.message, why)
      }).pipe(Effect.provide(fetching))
    )
  }

  it.scopedLive("more links than are allowed are a 400 and fetch nothing", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      const links = Array.from({ length: maxLinks + 1 }, (_, i) => image(`${fake.origin}/${i}`))
      const failure = yield* Effect.flip(inline(conversation(...links)))
      assert.strictEqual(failure.code, "too_many_links")
      assert.match(failure.message, /11 pictures or files/)
      assert.strictEqual(fake.requests.length, 0)
    }).pipe(Effect.provide(fetching))
  )

  it.scopedLive("four at a time", () =>
    Effect.gen(function* () {
      const fake = yield* Fake.start
      const latch = Fake.makeLatch()
      fake.always(async (response) => {
        await latch.opened
        response.writeHead(200, { "content-type": "image/png" })
        response.end(png)
      })
      const links = Array.from({ length: 6 }, (_, i) => image(`${fake.origin}/${i}`))
      const fiber = yield* Effect.fork(inline(conversation(...links)))
      yield* Effect.promise(() => fake.received(4))
      assert.strictEqual(fake.requests.length, 4)
      latch.open()
      yield* fiber.await
      assert.strictEqual(fake.requests.length, 6)
    }).pipe(Effect.provide(fetching))
  )

  it("a link is shown without what may be secret", () => {
    assert.strictEqual(shownUrl("https://u:p@a.example:8443/x/y.png?sig=1#z"), "https://a.example:8443/x/y.png")
    assert.strictEqual(shownUrl("http://["), "(not a URL)")
  })
})

describe("the cache of media", () => {
  const source = (length: number) => ({ kind: "base64", mediaType: "image/png", data: "A".repeat(length) }) as const

  it("keys tell callers and links apart", () => {
    assert.notStrictEqual(cacheKey("a", "b"), cacheKey("ab", ""))
    assert.match(cacheKey("a", "b"), /^[0-9a-f]{64}$/)
  })

  it("forgets with time", () => {
    const cache = makeMediaCache()
    cache.put(operatorsOwn, "k", source(4), 0)
    assert.isNotNull(cache.get("k", lifetimeMs - 1))
    assert.isNull(cache.get("k", lifetimeMs))
  })

  it("holds a bounded number of bytes, the used ones longest, and nothing over half of them", () => {
    const cache = makeMediaCache()
    const third = source(Math.floor(capacityBytes / 3))
    for (const key of ["a", "b", "c"]) cache.put(operatorsOwn, key, third, 0)
    cache.get("a", 1)
    cache.put(operatorsOwn, "d", third, 1)
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((key) => cache.get(key, 2) !== null),
      [true, false, true, true]
    )
    cache.put(operatorsOwn, "e", source(capacityBytes / 2 + 1), 2)
    assert.isNull(cache.get("e", 2))
    assert.isNotNull(cache.get("a", 2))
  })

  it("holds a bounded number of entries", () => {
    const cache = makeMediaCache()
    for (let i = 0; i <= maxEntries; i += 1) cache.put(operatorsOwn, `k${i}`, source(1), 0)
    assert.isNull(cache.get("k0", 1))
    assert.isNotNull(cache.get(`k${maxEntries}`, 1))
  })
})
