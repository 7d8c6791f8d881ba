import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import { makeServe } from "../../../src/cli/commands/serve.ts"
import { parsePort, readServeArgv, type ServeFlags } from "../../../src/cli/flags/serveOptions.ts"

const silent = { log: () => Effect.void, error: () => Effect.void }

/** What the command-line library makes of arguments; null when it refuses them. */
const readByLibrary = async (argv: ReadonlyArray<string>): Promise<ServeFlags | null> => {
  let flags: ServeFlags | null = null
  const note = (given: ServeFlags) =>
    Effect.sync(() => {
      flags = given
    })
  const root = makeServe("gateway", note).pipe(Command.withSubcommands([makeServe("serve", note)]))
  await Command.run(root, { name: "gateway", version: "0" })(["node", "gateway", ...argv]).pipe(
    Effect.provide(Layer.merge(NodeContext.layer, CliConfig.layer({ showBuiltIns: false }))),
    (run) => Effect.consoleWith((console) => Effect.withConsole(run, { ...console, ...silent })),
    Effect.ignore,
    Effect.runPromise
  )
  return flags
}

describe("readServeArgv", () => {
  it("reads a plain start", () => {
    assert.deepStrictEqual(readServeArgv([]), { allowKeyless: false, open: true })
    assert.deepStrictEqual(readServeArgv(["serve", "--host", "::1", "--port=0", "--no-open", "--allow-keyless"]), {
      host: "::1",
      port: 0,
      allowKeyless: true,
      open: false
    })
    assert.deepStrictEqual(readServeArgv(["--port", "8080"]), { port: 8080, allowKeyless: false, open: true })
  })

  it("leaves everything unusual to the library", () => {
    for (const argv of [
      ["--help"],
      ["serve", "-h"],
      ["status"],
      ["serve", "serve"],
      ["--port"],
      ["--port", "65536"],
      ["--port", "-1"],
      ["--port", "1", "--port", "2"],
      ["--no-open=true"],
      ["--host", ""],
      ["--hots", "x"]
    ]) {
      assert.isNull(readServeArgv(argv), argv.join(" "))
    }
  })

  it("agrees with the library whenever it answers", async () => {
    const words = ["serve", "--host", "--port", "--no-open", "--allow-keyless", "--port=80", "--host=::1", "--help"]
    const word = FastCheck.oneof(
      FastCheck.constantFrom(...words),
      FastCheck.constantFrom("0", "8080", "localhost", "70000")
    )
    let answered = 0
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(word, { maxLength: 6 }), async (argv) => {
        const quick = readServeArgv(argv)
        if (quick === null) return
        answered += 1
        assert.deepStrictEqual(await readByLibrary(argv), quick)
      }),
      { seed: 5, numRuns: 600 }
    )
    assert.isAbove(answered, 30)
  })
})

describe("parsePort", () => {
  it("takes whole numbers from 0 to 65535", () => {
    assert.strictEqual(parsePort("0"), 0)
    assert.strictEqual(parsePort("65535"), 65_535)
    for (const text of ["", "65536", "1e3", "0x10", " 1", "-1", "1.5"]) assert.isNull(parsePort(text), text)
  })
})
