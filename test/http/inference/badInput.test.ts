/**
 * Bad input over HTTP, on every client wire: a 400 in the wire's own shape, or the repair that `docs/wire-repairs.md` tells. Nothing
 * refused reaches the upstream, and the next request is served.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { shared } from "../../support/shared.ts"
import type * as TestGateway from "../../support/TestGateway.ts"
import { type ClientWire, huge, type Kit, kits } from "./badInputCases.ts"
import { setUp, setUpAll, type UpstreamWire } from "./complianceUpstreams.ts"

const nest = (levels: number, open: string, close: string): string => open.repeat(levels) + "1" + close.repeat(levels)

/** JSON text; what cannot be said by a value is put in as text. */
const textOf = (body: unknown, more: Readonly<Record<string, string>> = {}): string => {
  let text = JSON.stringify(body).replaceAll(JSON.stringify(huge), "1e999")
  for (const [mark, json] of Object.entries(more)) text = text.replaceAll(JSON.stringify(mark), () => json)
  return text
}

type Cases = Readonly<Record<string, string>>

/** Refused whatever the upstream's wire is. */
const refusedEverywhere = (kit: Kit): Cases => ({
  "malformed JSON": '{"model":"up/m",',
  "no JSON at all": "Hi",
  "an empty body": "",
  "an array": "[]",
  null: "null",
  "messages that are text": textOf(kit.body("Hi" as never)).replace('"input":"Hi"', '"input":5'),
  "a message that is null": textOf(kit.body([null])),
  "a message that is text": textOf(kit.body(["Hi"])),
  "arrays in arrays, 10,000 levels": textOf(kit.body([kit.user("a")], { x: "deep" }), { deep: nest(10_000, "[", "]") }),
  "a member twice": textOf(kit.body([kit.user("a")], { stream: true })).replace("{", '{"stream":false,'),
  "a nested member twice": textOf(kit.body([kit.user("a")], { x: { a: 1 } })).replace('"a":1', '"a":1,"a":2'),
  "a nested member twice, once by an escape": textOf(kit.body([kit.user("a")], { x: { a: 1 } })).replace(
    '"a":1',
    '"a":1,"\\u0061":2'
  ),
  "a member in capitals": textOf(kit.body([kit.user("a")], { Tools: [] })),
  "a member with a letter that folds to another": textOf(kit.body([kit.user("a")], { toolſ: [] })),
  "objects in objects, 10,000 levels": textOf(kit.body([kit.user("a")], { x: "deep" }), {
    deep: nest(10_000, '{"a":', "}")
  })
})

/** Refused where the request is translated; an upstream of the same wire gets the client's bytes, and judges for itself. */
const refusedTranslating = (kit: Kit): Cases => ({
  "a role nobody knows": textOf(kit.body([kit.user("a"), kit.strangeRole])),
  "a part without a type": textOf(kit.body([kit.untypedPart])),
  "invalid base64": textOf(kit.body([kit.brokenImage])),
  "a tool schema that is a text": textOf(kit.body([kit.user("a")], kit.brokenTool)),
  "a number too large to be one": textOf(kit.body([kit.user("a")], kit.hugeNumber))
})

/** Answered, after the repair that is written down. */
const served = (kit: Kit): Cases => ({
  "two turns of one role": textOf(
    kit.body([kit.user("a"), kit.user("b"), kit.assistant("c"), kit.assistant("d"), kit.user("e")])
  ),
  "the assistant first": textOf(kit.body([kit.assistant("a"), kit.user("b")])),
  "the assistant last": textOf(kit.body([kit.user("a"), kit.assistant("b ")])),
  "keys of the prototype": textOf(
    kit.body([kit.user("a")], { proto: { polluted: true }, constructor: 1, toString: 2 })
  ).replace('"proto"', '"__proto__"'),
  "lone surrogates": textOf(kit.body([kit.user("x")])).replace('"x"', '"\\ud800 a \\udc00"'),
  "NUL and control characters": textOf(kit.body([kit.user("\u0000\u0001\u001f\u007f")])),
  "nulls for everything not said": textOf(
    kit.body([kit.user("a")], {
      tools: null,
      temperature: null,
      tool_choice: null,
      generationConfig: null,
      options: null
    })
  ),
  "10,000 messages": textOf(
    kit.body(Array.from({ length: 10_001 }, (_, index) => (index % 2 === 0 ? kit.user("a") : kit.assistant("b"))))
  ),
  "a text of 5 MB": textOf(kit.body([kit.user("x".repeat(5 * 1_048_576))])),
  "150 levels": textOf(kit.body([kit.user("a")], { x: "deep" }), { deep: nest(150, "[", "]") })
})

const orphan = (kit: Kit): Cases => ({
  "a tool result without its call": textOf(kit.body([kit.user("a"), kit.orphanResult, kit.user("b")]))
})

const refuses = async (
  gateway: TestGateway.TestGateway,
  upstream: Fake.FakeUpstream,
  kit: Kit,
  cases: Cases
): Promise<void> => {
  for (const [name, text] of Object.entries(cases)) {
    const before = upstream.requests.length
    const response = await gateway.post(kit.path, text)
    const body = await response.text()
    assert.strictEqual(response.status, 400, `${name}: ${body.slice(0, 300)}`)
    assert.include(response.headers.get("content-type"), "application/json", name)
    assert.match(body, kit.errorShape, name)
    assert.strictEqual(upstream.requests.length, before, name)
    const next = await gateway.post(kit.path, kit.body([kit.user("Hi")]))
    assert.strictEqual(next.status, 200, `after ${name}: ${await next.text()}`)
  }
}

const serves = async (gateway: TestGateway.TestGateway, kit: Kit, cases: Cases): Promise<void> => {
  for (const [name, text] of Object.entries(cases)) {
    const response = await gateway.post(kit.path, text)
    assert.strictEqual(response.status, 200, `${name}: ${(await response.text()).slice(0, 300)}`)
  }
}

/** An upstream of another wire for each client. */
const foreign: Readonly<Record<ClientWire, UpstreamWire>> = {
  chat: "messages",
  messages: "chat",
  responses: "gemini",
  gemini: "messages",
  ollama: "responses"
}

const clients = Object.keys(kits) as ReadonlyArray<ClientWire>

const rooms = shared(setUpAll)

describe("bad input", () => {
  for (const wire of clients) {
    const kit = kits[wire]

    it.scopedLive(`${wire}, ${foreign[wire]} upstream: refused in the wire's own shape`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = rooms()[foreign[wire]]
        yield* Effect.promise(() =>
          refuses(gateway, upstream, kit, {
            ...refusedEverywhere(kit),
            ...refusedTranslating(kit),
            ...(kit.pairsByOrder === true ? orphan(kit) : {})
          })
        )
      })
    )

    it.scopedLive(`${wire}, ${wire} upstream: refused before it is relayed`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = rooms()[wire]
        yield* Effect.promise(() => refuses(gateway, upstream, kit, refusedEverywhere(kit)))
      })
    )

    it.scopedLive(`${wire}, ${foreign[wire]} upstream: repaired and served`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = rooms()[foreign[wire]]
        yield* Effect.promise(async () => {
          await serves(gateway, kit, { ...served(kit), ...(kit.pairsByOrder === true ? {} : orphan(kit)) })
          assert.isUndefined(({} as Record<string, unknown>)["polluted"])
          if (kit.strangePart === null) return
          const response = await gateway.post(kit.path, kit.body([kit.strangePart]))
          assert.strictEqual(response.status, 200, await response.text())
          assert.include(response.headers.get("x-gateway-dropped"), kit.strangeName)
          assert.notInclude(upstream.requests.at(-1)?.body ?? "", "mystery")
        })
      })
    )

    it.scopedLive(`${wire}, ${wire} upstream: relayed as it is`, () =>
      Effect.gen(function* () {
        const { gateway } = rooms()[wire]
        yield* Effect.promise(() => serves(gateway, kit, { ...served(kit), ...orphan(kit) }))
      })
    )
  }

  it.scopedLive("what the provider refuses is told in the client's shape", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("messages")
      const message = "messages.1: unexpected tool_use_id found in tool_result blocks"
      upstream.always(Fake.json(Fake.errorBody("messages", message), { status: 400 }))
      yield* Effect.promise(async () => {
        for (const wire of ["chat", "gemini", "responses"] as const) {
          const kit = kits[wire]
          const response = await gateway.post(kit.path, kit.body([kit.user("a"), kit.orphanResult]))
          const body = await response.text()
          assert.strictEqual(response.status, 400, body)
          assert.match(body, kit.errorShape)
          assert.include(body, message)
        }
      })
    })
  )
})
