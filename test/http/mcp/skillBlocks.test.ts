/** JavaScript blocks of skills' pages, run in the sandbox for who manages the gateway. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codeBlocks } from "../../../src/agents/skills/CodeBlocks.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { call, type Called, connect, type Connected } from "./Client.ts"

const id = "gw-providers"
const fence = "```"

/** A gateway whose page of `gw-providers` has these blocks of its owner; `first`: the number of the first of them. */
const setUp = (
  blocks: ReadonlyArray<readonly [language: string, text: string]>,
  environment: Record<string, string> = {}
) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    const gateway = yield* TestGateway.start({ dataDir, environment: new Map(Object.entries(environment)) })
    return yield* Effect.promise(async () => {
      const custom = blocks.map(([language, text]) => `${fence}${language}\n${text}\n${fence}\n`).join("\n")
      const former = `<!-- skill:custom-start -->\n${custom}<!-- skill:custom-end -->\n`
      mkdirSync(join(dataDir, "skills", id), { recursive: true })
      writeFileSync(join(dataDir, "skills", id, "SKILL.md"), former)
      // With the output schemas, against which the client checks every answer.
      const client = await connect(gateway.url, TestGateway.adminKey, "/mcp?schemas=full")
      await client.client.listTools()
      const page = await (await fetch(`${gateway.url}/skills/${id}/SKILL.md`)).text()
      const all = codeBlocks(page)
      const first = all.length - blocks.length + 1
      const run = (at: number, by: Connected = client): Promise<Called> =>
        call(by, "skills_execute", { id, block: first + at })
      return { gateway, client, run, first, total: all.length }
    })
  })

const valueOf = async (called: Promise<Called>) => {
  const { isError, structured, text } = await called
  assert.isFalse(isError, text)
  return structured
}

const reasonOf = async (called: Promise<Called>) => {
  const { isError, text } = await called
  assert.isTrue(isError, text)
  return text
}

describe("a code block of a skill", () => {
  it.scopedLive("is run as the body of an async function, without anything of the machine", () =>
    Effect.gen(function* () {
      const reach =
        "return [typeof process, typeof require, typeof exec, typeof fs, typeof Worker, typeof WebAssembly, typeof env].join()"
      const { run } = yield* setUp([
        [
          "js",
          "console.log('begun', { a: 1 }); await new Promise((done) => setTimeout(done, 5)); return { sum: 1 + 2 }"
        ],
        ["javascript", "console.warn('only words')"],
        ["mjs", reach],
        ["js", "console.log('so far'); null.x"],
        ["js", "return }; {"],
        ["js", "return () => 1"]
      ])
      yield* Effect.promise(async () => {
        const { durationMs, ...first } = await valueOf(run(0))
        assert.isAtLeast(durationMs, 4)
        assert.deepStrictEqual(first, { value: { sum: 3 }, output: [`begun {"a":1}`], hadNetwork: false })
        assert.deepInclude(await valueOf(run(1)), { value: null, output: ["only words"] })
        assert.strictEqual((await valueOf(run(2))).value, Array.from({ length: 7 }, () => "undefined").join())
        assert.match(await reasonOf(run(3)), /TypeError.*It wrote before: so far/s)
        assert.match(await reasonOf(run(4)), /SyntaxError/)
        assert.match(await reasonOf(run(5)), /not JSON/)
      })
    })
  )

  it.scopedLive("is bounded in time, memory and what comes out, whatever it changes around itself", () =>
    Effect.gen(function* () {
      const { run } = yield* setUp([
        ["js", "for (;;) {}"],
        ["js", "const held = []; for (;;) held.push(new Array(100000).fill(1.5))"],
        ["js", "return 'x'.repeat(100001)"],
        ["js", "for (let i = 0; i < 10000; i += 1) console.log('y'.repeat(1000)); return 'done'"],
        [
          "js",
          "String.prototype.slice = function () { return this }; Array.prototype.push = () => 0; console.log('x'.repeat(3e6)); return 1"
        ],
        ["js", "Object.getPrototypeOf(async () => {}).constructor; return { get length() { throw 1 } }"],
        ["js", "await new Promise(() => {})"]
      ])
      yield* Effect.promise(async () => {
        assert.match(await reasonOf(run(0)), /processor time/)
        assert.match(await reasonOf(run(1)), /memory|processor time/)
        assert.match(await reasonOf(run(2)), /more than the 100000/)
        const long = await valueOf(run(3))
        assert.strictEqual(long.value, "done")
        assert.isAtMost(long.output.join("").length, 100_000)
        assert.isAtMost((await run(4)).text.length, 1_048_576)
        assert.deepStrictEqual((await run(5)).isError, true)
        assert.match(await reasonOf(run(6)), /never settled|longer than/)
      })
    })
  )

  it.scopedLive(
    "asks nobody while SKILLS_SANDBOX_NETWORK_ENABLED is off, and by the guarded client while it is on",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        upstream.always(Fake.json({ said: "hello" }))
        const ask = (url: string) => `const answer = await fetch(${JSON.stringify(url)}); return await answer.json()`
        const blocks = [
          ["js", ask(`${upstream.origin}/x`)],
          ["js", ask("http://169.254.169.254/latest/meta-data")]
        ] as const
        for (const [isOn, guard] of [
          ["false", "false"],
          ["true", "true"],
          ["true", "false"]
        ] as const) {
          const { run } = yield* setUp(blocks, {
            SKILLS_SANDBOX_NETWORK_ENABLED: isOn,
            OUTBOUND_SSRF_GUARD_ENABLED: guard
          })
          yield* Effect.promise(async () => {
            const before = upstream.requests.length
            const reasons = isOn === "true" ? /fetch failed/ : /SKILLS_SANDBOX_NETWORK_ENABLED/
            assert.match(await reasonOf(run(1)), reasons)
            if (isOn === "true" && guard === "false") {
              assert.deepInclude(await valueOf(run(0)), { value: { said: "hello" }, hadNetwork: true })
              assert.lengthOf(upstream.requests, before + 1)
            } else {
              assert.match(await reasonOf(run(0)), reasons)
              assert.lengthOf(upstream.requests, before)
            }
          })
        }
      })
  )

  it.scopedLive("is refused in other languages, without a number that is there, and to all who do not manage", () =>
    Effect.gen(function* () {
      const { client, first, gateway, run, total } = yield* setUp(
        [
          ["bash", "echo no"],
          ["", "return 1"],
          ["js", "return 1"]
        ],
        { GATEWAY_MCP_ENFORCE_SCOPES: "false" }
      )
      yield* Effect.promise(async () => {
        assert.match(await reasonOf(run(0)), /block \d+ of gw-providers is written in 'bash'. Only JavaScript/)
        assert.match(await reasonOf(run(1)), /names no language/)
        assert.strictEqual((await valueOf(run(2))).value, 1)
        const missing = await reasonOf(call(client, "skills_execute", { id, block: total + 1 }))
        assert.include(missing, `has ${total} code blocks`)
        assert.match(await reasonOf(call(client, "skills_execute", { id: "gw-provider", block: 1 })), /Did you mean/)
        assert.match(await reasonOf(call(client, "skills_execute", { id, block: 0 })), /block/)
        const { secret } = await gateway.manage("POST", "/api/keys", {
          name: "k",
          scopes: ["execute:skills", "read:skills"]
        })
        const ordinary = await connect(gateway.url, secret)
        for (const by of [ordinary, await connect(gateway.url, null)]) {
          assert.match(
            await reasonOf(call(by, "skills_execute", { id, block: first + 2 })),
            /manages the gateway|scope 'admin'/
          )
        }
      })
    })
  )

  it.scopedLive("runs beside one other at most", () =>
    Effect.gen(function* () {
      const { run } = yield* setUp([["js", "await new Promise((done) => setTimeout(done, 400)); return 1"]])
      yield* Effect.promise(async () => {
        const all = await Promise.all([run(0), run(0), run(0), run(0)])
        assert.deepStrictEqual(all.map(({ isError }) => isError).toSorted(), [false, false, true, true])
        assert.isTrue(all.some(({ text }) => text.includes("2 code blocks run already")))
        assert.strictEqual((await valueOf(run(0))).value, 1)
      })
    })
  )
})
