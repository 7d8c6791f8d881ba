/**
 * `docs/reference/cli.md` has every command with its line and an example, `docs/reference/gateway.1` their flags, too. Written anew by
 * `UPDATE_REFERENCE=1`.
 */
import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { manualPage } from "../../../src/cli/help/manual.ts"
import { version } from "../../../src/platform/Version.ts"
import { allCommands } from "./inProcess.ts"
import { program } from "../../../src/cli/program.ts"
import type { TreeNode } from "../../../src/cli/tree/Tree.ts"

const file = fileURLToPath(new URL("../../../docs/reference/cli.md", import.meta.url))

const lines = (nodes: ReadonlyArray<TreeNode>, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  nodes
    .filter(({ name }) => name !== "complete")
    .flatMap((node) => {
      const whole = [...path, node.name]
      if (node.kind === "group") return lines(node.commands, whole)
      return [
        `- \`gateway ${whole.join(" ")}\`: ${node.summary} Example: \`gateway ${node.examples[0] ?? whole.join(" ")}\``
      ]
    })

const page = [
  "# Commands",
  "",
  "Every command with an example; `gateway help <command>` has its flags. `--json` and `-o table|wide|json|jsonl|csv|name` belong to every",
  "command that prints something; of `chat`, `files get`, `image`, `speak` and `transcribe`, which give what a model or a file has, `-o` is the file to",
  "write. Objects are meant by name, by id or by the beginning of the id.",
  "",
  "Every command takes these, behind its name or before it: `--port <n>` means the gateway of this machine at that port, whatever `GATEWAY_URL` or a",
  "login says (of `serve`, `start`, `service install` and `setup-<tool>` it is a flag of their own); `--non-interactive` asks nothing, as where there is no terminal: what would be",
  "asked has to be given by flags, a confirmation by `--yes`; `--no-open` opens nothing in a browser. `--version` and `--help` belong to all, too.",
  "",
  ...lines(program.commands, []),
  ""
].join("\n")

it("the page of commands is that of the tree", () => {
  if (process.env["UPDATE_REFERENCE"] === "1") writeFileSync(file, page)
  assert.strictEqual(readFileSync(file, "utf8"), page)
})

it("the page of commands has every command that people can type", () => {
  for (const [path] of allCommands()) {
    if (path[0] !== "complete") assert.include(page, `- \`gateway ${path.join(" ")}\`:`)
  }
})

const manual = fileURLToPath(new URL("../../../docs/reference/gateway.1", import.meta.url))

// Loads the modules of all commands.
it("the manual page is that of the tree, with every command", { timeout: 180_000 }, async () => {
  const made = await manualPage(program, version)
  if (process.env["UPDATE_REFERENCE"] === "1") writeFileSync(manual, made)
  assert.strictEqual(readFileSync(manual, "utf8"), made)
  for (const [path] of allCommands()) {
    if (path[0] !== "complete") assert.include(made, `.SS "gateway ${path.join(" ").replaceAll("-", "\\-")}"`)
  }
})

const groff = spawnSync("groff", ["--version"]).status === 0

it.skipIf(!groff)("the manual page is set without warnings (skipped where there is no groff)", () => {
  const { status, stderr, stdout } = spawnSync("groff", ["-man", "-ww", "-Tutf8", manual], {
    encoding: "utf8",
    maxBuffer: 1e8
  })
  assert.deepStrictEqual([status, stderr], [0, ""])
  assert.include(stdout, "provider add")
})
