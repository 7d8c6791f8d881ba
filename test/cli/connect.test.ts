/** Connecting a provider at the command line: the provider is asked before anything is stored, and a key is never stored wrong. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Fake from "../support/FakeUpstream.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { piped, program } from "./support.ts"
import { inTerminal } from "./terminal.ts"
import { launch } from "./built.ts"

/** Each test starts the program several times. */
const patienceMs = 120_000

const { dataDir, main, run, serve } = program()

const goodKey = "sk-good-0123456789abcdef"

const refusal = Fake.json(
  { error: { message: "Incorrect API key provided", code: "invalid_api_key" } },
  { status: 401 }
)

/** An OpenAI that knows one key. */
const upstream = Effect.gen(function* () {
  const fake = yield* Fake.start
  const refusing =
    (known: Fake.Answer): Fake.Answer =>
    (response, request) =>
      request.headers.authorization === `Bearer ${goodKey}` ? known(response, request) : refusal(response, request)
  fake.always(refusing(Fake.json(Fake.chatCompletion({ text: "pong" }))))
  fake.lists(refusing(Fake.json(Fake.models(["text-embedding-3-small", "gpt-4.1", "gpt-4o", "o3", "o4-mini"]))))
  return { url: `${fake.origin}/v1`, asked: () => fake.requests.length + fake.listRequests.length }
})

const stored = async (DATA_DIR: string) =>
  JSON.parse((await run(["providers", "list", "--json"], { DATA_DIR })).stdout).connections

const withInput = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>, input: string) =>
  piped(main, args, { PATH: process.env["PATH"] ?? "", HOME: environment["DATA_DIR"] ?? "", ...environment }, input)

describe("gateway provider add", () => {
  it.scopedLive(
    "stores what the provider accepts, and shows its models and the first question",
    () =>
      Effect.gen(function* () {
        const { url } = yield* upstream
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const server = await serve({ DATA_DIR })
          const added = await withInput(
            ["provider", "add", "openai", "--base-url", url, "--name", "work", "--api-key-stdin"],
            { DATA_DIR },
            `export OPENAI_API_KEY="Bearer ${goodKey}"\r\n`
          )
          assert.strictEqual(added.code, 0, added.stderr)
          assert.include(added.stderr, "Connected 'work' (openai): 5 models", added.stderr)
          assert.include(added.stderr, `curl ${server.url}/v1/chat/completions`)
          assert.include(added.stderr, '"model":"openai/gpt-4')
          assert.notInclude(added.stderr, goodKey)
          const byEnv = await run(
            ["provider", "add", "openai", "--base-url", url, "--api-key-env", "MY_KEY", "--json"],
            {
              DATA_DIR,
              MY_KEY: ` '${goodKey}' `
            }
          )
          assert.strictEqual(byEnv.code, 0, byEnv.stderr)
          assert.strictEqual(JSON.parse(byEnv.stdout).connection.provider, "openai")
          assert.lengthOf(await stored(DATA_DIR), 2)
          const tested = await run(["provider", "test", "work", "--json"], { DATA_DIR })
          assert.deepInclude(JSON.parse(tested.stdout), { name: "work", ok: true, models: 5 }, tested.stderr)
          // The gateway itself asked, and has seen the answer.
          const shown = await run(["provider", "list", "--json"], { DATA_DIR })
          assert.strictEqual(JSON.parse(shown.stdout).connections[0].testStatus, "active")
          await server.stop("SIGTERM")
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "stores nothing that the provider refuses or that is no key, unless it is told to",
    () =>
      Effect.gen(function* () {
        const { asked, url } = yield* upstream
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const openai = ["provider", "add", "openai", "--base-url", url]
          const wrong = await run([...openai, "--api-key", "sk-wrong-0123456789"], { DATA_DIR })
          assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
          assert.include(wrong.stderr, "OpenAI answered 401: Incorrect API key provided")
          assert.include(wrong.stderr, "Nothing was stored")
          assert.include(wrong.stderr, "--no-verify")
          const before = asked()
          for (const [args, words] of [
            [["--api-key", "sk-one sk-two"], "space"],
            [["--api-key", "sk-abc...xyz"], "shortened"],
            [["--api-key", "gw_0123456789"], "gateway"],
            [["--api-key", "  "], "empty"],
            [["--api-key-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"],
            [["--api-key", "x", "--api-key-stdin"], "twice"],
            [[], "needs a key"]
          ] as const) {
            const refused = await run([...openai, ...args], { DATA_DIR })
            assert.deepStrictEqual([refused.code, refused.stdout], [2, ""], words)
            assert.include(refused.stderr, words)
          }
          const closed = await withInput([...openai, "--api-key-stdin"], { DATA_DIR }, "")
          assert.strictEqual(closed.code, 2)
          assert.include(closed.stderr, "empty")
          for (const [args, words] of [
            [["provider", "add"], "Which provider"],
            [["provider", "add", "opnai", "--api-key", "x"], "openai"]
          ] as const) {
            const refused = await run(args, { DATA_DIR })
            assert.strictEqual(refused.code, 2, refused.stderr)
            assert.include(refused.stderr, words)
          }
          assert.strictEqual(asked(), before)
          const offline = await run(
            ["provider", "add", "ollama", "--base-url", "http://127.0.0.1:9", "--name", "desk"],
            {
              DATA_DIR
            }
          )
          assert.strictEqual(offline.code, 1, offline.stderr)
          assert.deepStrictEqual(await stored(DATA_DIR), [])

          const kept = await run([...openai, "--api-key", "sk-wrong-0123456789", "--no-verify"], { DATA_DIR })
          assert.strictEqual(kept.code, 0, kept.stderr)
          assert.notInclude(kept.stderr, "Connected")
          assert.lengthOf(await stored(DATA_DIR), 1)
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "tries a whole connection by --test-only, new or changed, and stores nothing",
    () =>
      Effect.gen(function* () {
        const { url } = yield* upstream
        const folder = yield* temporaryFolder
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const file = join(folder, "connection.json")
          const write = (fields: object): void => writeFileSync(file, JSON.stringify(fields))
          write({ name: "whole", apiKey: goodKey, baseUrl: url, headers: { "x-team": "blue" }, maxConcurrent: 3 })
          const tried = await run(["provider", "add", "openai", "--file", file, "--test-only", "--json"], { DATA_DIR })
          assert.deepStrictEqual([tried.code, JSON.parse(tried.stdout)], [0, { valid: true }], tried.stderr)
          assert.deepStrictEqual(await stored(DATA_DIR), [])
          const refused = await run(
            ["provider", "add", "openai", "--file", file, "--api-key", "sk-wrong-0123456789", "--test-only"],
            { DATA_DIR }
          )
          assert.strictEqual(refused.code, 1, "a flag comes before the file")
          assert.include(refused.stderr, "Nothing was stored")
          const custom = ["provider", "add", "custom", "--base-url", url, "--wire", "chat", "--api-key", goodKey]
          const own = await run([...custom, "--test-only"], { DATA_DIR })
          assert.strictEqual(own.code, 0, own.stderr)
          assert.deepStrictEqual(await stored(DATA_DIR), [])
          for (const [fields, words] of [
            [{ ...JSON.parse(readFileSync(file, "utf8")), base_url: "x" }, "base_url"],
            [["no object"], "JSON object"]
          ] as const) {
            write(fields)
            const wrong = await run(["provider", "add", "openai", "--file", file, "--api-key", goodKey], { DATA_DIR })
            assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""], wrong.stderr)
            assert.include(wrong.stderr, words)
          }
          write({ name: "whole", apiKey: goodKey, baseUrl: url, headers: { "x-team": "blue" }, maxConcurrent: 3 })
          const added = await run(["provider", "add", "openai", "--file", file, "--json"], { DATA_DIR })
          assert.strictEqual(added.code, 0, added.stderr)
          const before = await stored(DATA_DIR)
          assert.deepInclude(before[0], { name: "whole", maxConcurrent: 3, baseUrl: url })

          const server = await serve({ DATA_DIR })
          const edit = ["provider", "edit", "whole", "--test-only"]
          const changed = await run([...edit, "--max-concurrent", "4"], { DATA_DIR })
          assert.strictEqual(changed.code, 0, changed.stderr)
          const wrongKey = await run([...edit, "--api-key", "sk-wrong-0123456789"], { DATA_DIR })
          assert.strictEqual(wrongKey.code, 1, wrongKey.stderr)
          const [after] = await stored(DATA_DIR)
          assert.deepInclude(after, { maxConcurrent: 3, updatedAt: before[0].updatedAt })
          await server.stop("SIGTERM")
          const both = await run(["provider", "add", "openai", "--test-only", "--no-verify"], { DATA_DIR })
          assert.strictEqual(both.code, 2, both.stderr)
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "asks on a terminal: a list that typing narrows, the key hidden, and again after a refusal",
    () =>
      Effect.gen(function* () {
        const { url } = yield* upstream
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const { code, screen } = await inTerminal([...launch, "provider", "add", "--base-url", url], { DATA_DIR }, [
            [/type to search$/, "openai"],
            [/❯ OpenAI/, "\r"],
            [/Key of OpenAI[^\n]*$/, "sk-wrong-0123456789\r"],
            [/Incorrect API key provided[\s\S]*Key of OpenAI[^\n]*$/, `  ${goodKey}\r`]
          ])
          assert.strictEqual(code, 0, screen)
          assert.include(screen, "Connected 'OpenAI' (openai): 5 models")
          assert.include(screen, "main.cjs serve")
          assert.notInclude(screen, goodKey)
          assert.notInclude(screen, "sk-wrong")
          const [connection] = await stored(DATA_DIR)
          assert.strictEqual(connection.baseUrl, url)
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "shows no key that is pasted before the question, or while another one is tried",
    () =>
      Effect.gen(function* () {
        const { url } = yield* upstream
        yield* Effect.promise(async () => {
          const { code, screen } = await inTerminal(
            [...launch, "provider", "add", "openai", "--base-url", url],
            { DATA_DIR: dataDir() },
            [
              [
                /Keys of OpenAI: https:\/\/platform\.openai\.com\/api-keys \(they look like sk-…\)/,
                `sk-wrong-0123456789\r${goodKey}\r`
              ]
            ]
          )
          assert.strictEqual(code, 0, screen)
          assert.include(screen, "Incorrect API key provided")
          assert.include(screen, "Connected 'OpenAI' (openai)")
          assert.notInclude(screen, goodKey)
          assert.notInclude(screen, "sk-wrong")
        })
      }),
    patienceMs
  )

  it.scopedLive(
    "ends at Ctrl-C while the provider is asked",
    () =>
      Effect.gen(function* () {
        const never = Fake.makeLatch()
        const fake = yield* Fake.start
        fake.lists(() => never.opened)
        fake.always(() => never.opened)
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const { code, screen } = await inTerminal(
            [...launch, "provider", "add", "openai", "--base-url", `${fake.origin}/v1`],
            { DATA_DIR },
            [
              [/Key of OpenAI[^\n]*$/, `${goodKey}\r`],
              [/Asking OpenAI/, "\u0003"]
            ]
          )
          assert.strictEqual(code, 130, screen)
          assert.deepStrictEqual(await stored(DATA_DIR), [])
        })
      }),
    patienceMs
  )
})

describe("gateway setup on a terminal", () => {
  it.scopedLive(
    "throws nobody out, tries before it stores, and ends with what to do next",
    () =>
      Effect.gen(function* () {
        const { url } = yield* upstream
        yield* Effect.promise(async () => {
          const DATA_DIR = dataDir()
          const { code, screen } = await inTerminal([...launch, "setup"], { DATA_DIR }, [
            [/Connect a provider\?/, "\r"],
            [/type to search$/, "vllm"],
            [/❯ vLLM/, "\r"],
            [/Address of vLLM[^\n]*$/, "not an address\r"],
            [/must be an address/, `${"\u007f".repeat(14)}${url}\r`],
            [/Key of vLLM[^\n]*$/, "sk-wrong-0123456789\r"],
            [/What now\?[\s\S]*No provider now$/, "\r"],
            [/What now\?[\s\S]*Address of vLLM[^\n]*$/, `${url}\r`],
            [/What now\?[\s\S]*Key of vLLM[^\n]*$/, `${goodKey}\r`],
            [/Set an admin password[^\n]*$/, "y"],
            [/New admin password[^\n]*$/, "short\r"],
            [/must have 8/, `${"\u007f".repeat(5)}a long password\r`],
            [/The same again[^\n]*$/, "another password\r"],
            [/differ[\s\S]*New admin password[^\n]*$/, "a long password\r"],
            [/differ[\s\S]*The same again[^\n]*$/, "a long password\r"]
          ])
          assert.strictEqual(code, 0, screen)
          for (const words of [
            "Connected 'vLLM'",
            "main.cjs serve",
            "curl http://127.0.0.1:20128",
            "ANTHROPIC_BASE_URL"
          ]) {
            assert.include(screen, words)
          }
          assert.notInclude(screen, "a long password")
          assert.lengthOf(await stored(DATA_DIR), 1)

          const again = await inTerminal([...launch, "setup"], { DATA_DIR }, [
            [/Connected already: vLLM[\s\S]*Connect another one\?/, "\r"],
            [/Set an admin password[^\n]*$/, "\r"]
          ])
          assert.strictEqual(again.code, 0, again.screen)
          assert.lengthOf(await stored(DATA_DIR), 1)
        })
      }),
    patienceMs
  )

  it(
    "leaves everything as it was on Ctrl-C, says so, and exits 130",
    async () => {
      const DATA_DIR = dataDir()
      const { code, screen } = await inTerminal([...launch, "setup"], { DATA_DIR }, [
        [/Connect a provider\?/, "\r"],
        [/type to search$/, "openai"],
        [/❯ OpenAI/, "\u0003"]
      ])
      assert.strictEqual(code, 130, screen)
      assert.include(screen, "Stopped. Nothing was changed.")
      assert.deepStrictEqual(await stored(DATA_DIR), [])
    },
    patienceMs
  )
})
