/** The scripts of `gateway completion` in the shells themselves, with names of a running gateway. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { program, type Serving } from "./support.ts"
import { launchLine } from "./built.ts"

const { dataDir, run, serve } = program()

const folder = { data: "", bin: "" }
const server: { current: Serving | null } = { current: null }
beforeAll(async () => {
  folder.data = dataDir()
  folder.bin = mkdtempSync(join(dataDir(), "bin-"))
  const command = join(folder.bin, "gateway")
  writeFileSync(command, `#!/bin/sh\nexec ${launchLine} "$@"\n`)
  chmodSync(command, 0o755)
  server.current = await serve({ DATA_DIR: folder.data })
  const environment = { DATA_DIR: folder.data }
  for (const words of [
    ["combo", "create", "fast lane", "openai/gpt-4o"],
    ["combo", "create", "slow", "openai/gpt-4o"],
    ["key", "add", "laptop"]
  ]) {
    const { code, stderr } = await run(words, environment)
    assert.strictEqual(code, 0, stderr)
  }
})
afterAll(async () => {
  await server.current?.stop("SIGTERM")
})

const environment = () => ({
  PATH: `${folder.bin}:${process.env.PATH ?? ""}`,
  HOME: folder.data,
  DATA_DIR: folder.data
})

/** What bash proposes where the cursor stands at the end of a line. */
const inBash = (line: string): ReadonlyArray<string> => {
  const script = [
    // A busy machine takes longer than a person would wait.
    "source <(gateway completion bash | sed 's/ complete -- / complete --within 10000 -- /')",
    "complete -p gateway > /dev/null || exit 9",
    "COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9",
    "_gateway gateway",
    'printf "%s\\n" "${COMPREPLY[@]}"'
  ].join("\n")
  const { status, stderr, stdout } = spawnSync("bash", ["--norc", "-c", script, "bash", line], {
    encoding: "utf8",
    env: environment()
  })
  assert.deepStrictEqual([status, stderr], [0, ""])
  return stdout.split("\n").filter((word) => word !== "")
}

describe("completion in bash", () => {
  it("completes commands, flags and their values at every level", () => {
    assert.includeMembers([...inBash("gateway ")], ["serve", "provider", "key", "doctor"])
    assert.deepStrictEqual(inBash("gateway comb"), ["combo"])
    assert.includeMembers([...inBash("gateway keys ")], ["list", "add", "remove"])
    assert.deepStrictEqual(inBash("gateway quota groups re"), ["remove"])
    assert.deepStrictEqual(inBash("gateway logs --lim"), ["--limit"])
    assert.deepStrictEqual(inBash("gateway logs -o js"), ["json", "jsonl"])
  })

  it("completes behind the signs at which bash takes words apart", () => {
    assert.deepStrictEqual(inBash("gateway logs --output=js"), ["json", "jsonl"])
  })

  it("completes names of the running gateway, quoted where they need it", () => {
    assert.deepStrictEqual(inBash("gateway combo delete "), ["fast\\ lane", "slow"])
    assert.deepStrictEqual(inBash("gateway combo delete sl"), ["slow"])
    assert.deepStrictEqual(inBash("gateway key remove "), ["laptop"])
    assert.include(inBash("gateway route explain s"), "slow")
  })

  it("says nothing when no gateway runs", async () => {
    const elsewhere = { DATA_DIR: dataDir(), GATEWAY_URL: "http://127.0.0.1:9" }
    assert.deepStrictEqual(await run(["complete", "--", "combo", "delete", ""], elsewhere), {
      code: 0,
      stdout: "",
      stderr: ""
    })
  })
})

describe("the scripts for other shells", () => {
  it("are accepted by those that are installed", async () => {
    for (const [shell, check] of [
      ["bash", "-n"],
      ["zsh", "-n"],
      ["fish", "--no-execute"]
    ] as const) {
      const { code, stdout } = await run(["completion", shell], { DATA_DIR: folder.data })
      assert.strictEqual(code, 0)
      assert.include(stdout, "complete --")
      const file = join(folder.bin, `completion.${shell}`)
      writeFileSync(file, stdout)
      const { error, status, stderr } = spawnSync(shell, [check, file], { encoding: "utf8" })
      if (error === undefined) assert.deepStrictEqual([status, stderr], [0, ""], shell)
    }
  })
})
