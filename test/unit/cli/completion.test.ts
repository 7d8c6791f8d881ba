import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { propose } from "../../../src/cli/completion/candidates.ts"
import { program } from "../../../src/cli/program.ts"
import { typed } from "./inProcess.ts"

/** The words that are proposed for the last one, without their summaries. */
const completed = (...words: ReadonlyArray<string>) =>
  Effect.map(typed(["complete", "--", ...words]), ({ code, stderr, stdout }) => {
    assert.deepStrictEqual([code, stderr], [0, ""])
    return stdout === "" ? [] : stdout.split("\n").map((line) => line.split("\t")[0] ?? "")
  })

const proposal = (...words: ReadonlyArray<string>) =>
  Effect.promise(() => propose(program, words, (node) => node.load().then(({ shape }) => shape)))

describe("gateway complete", () => {
  it.effect("proposes the commands of every level, and aliases to who has begun one", () =>
    Effect.gen(function* () {
      const first = yield* completed("")
      assert.includeMembers(first, ["serve", "key", "provider", "doctor"])
      assert.notIncludeMembers(first, ["complete"])
      // Those that the help of the program has no line for, too.
      assert.includeMembers(first, ["restore", "eval", "memory", "logout", "setup-claude", "reset-password"])
      assert.notIncludeMembers(first, ["keys"])
      assert.deepStrictEqual(yield* completed("ke"), ["key"])
      assert.deepStrictEqual(yield* completed("keys"), ["keys"])
      assert.deepStrictEqual(yield* completed("keys", "l"), ["list"])
      assert.deepStrictEqual(yield* completed("quota", "groups", "re"), ["remove"])
      assert.deepStrictEqual(yield* completed("help", "key", "a"), ["add"])
    })
  )

  it.effect("proposes flags that are not given yet, and their values", () =>
    Effect.gen(function* () {
      assert.includeMembers(yield* completed("logs", "--"), ["--limit", "--json", "--output", "--help"])
      assert.notIncludeMembers(yield* completed("logs", "--limit", "5", "--"), ["--limit"])
      assert.deepStrictEqual(yield* completed("status", "-o", "js"), ["json", "jsonl"])
      assert.deepStrictEqual(yield* completed("status", "--output=c"), ["--output=csv"])
      assert.deepStrictEqual(yield* completed("completion", ""), ["bash", "zsh", "fish"])
      assert.deepStrictEqual(yield* completed("--por"), ["--port"])
    })
  )

  it.effect("knows which words are names of the gateway's objects, and which are files", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* proposal("combo", "delete", "")).live, ["combo"])
      assert.deepStrictEqual((yield* proposal("combo", "switch", "fast", "")).live, ["model"])
      assert.deepStrictEqual((yield* proposal("key", "remove", "")).live, ["key"])
      assert.deepStrictEqual((yield* proposal("provider", "test", "")).live, ["connection"])
      assert.deepStrictEqual((yield* proposal("resilience", "clear", "--connection", "")).live, ["connection"])
      assert.deepStrictEqual((yield* proposal("combo", "create", "fast", "a/b", "")).live, ["model"])
      assert.deepStrictEqual((yield* proposal("route", "replay", "--combo", "")).live, ["combo"])
      for (const [words, kind] of [
        ["webhook test", "webhook"],
        ["plugin activate", "plugin"],
        ["proxy edit", "proxy"],
        ["restore", "backup"],
        ["backup restore", "backup"],
        ["mcp test", "server"],
        ["context use", "context"],
        ["flags set", "flag"],
        ["files get", "file"],
        ["batches show", "batch"],
        ["eval run", "suite"],
        ["provider nodes show", "node"],
        ["model alias remove", "alias"]
      ] as const) {
        assert.deepStrictEqual((yield* proposal(...words.split(" "), "")).live, [kind], words)
      }
      assert.isTrue((yield* proposal("route", "explain", "fast", "--body", "")).files)
      assert.deepStrictEqual((yield* proposal("key", "remove", "one", "")).live, [])
    })
  )

  it.effect("proposes providers without a gateway, and says nothing where nothing fits", () =>
    Effect.gen(function* () {
      assert.include(yield* completed("provider", "add", "openr"), "openrouter")
      assert.deepStrictEqual(yield* completed("no", "such", "command", ""), [])
      assert.deepStrictEqual(yield* completed("status", ""), [])
    })
  )
})
