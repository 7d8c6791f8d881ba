/** `docs/reference/cli.md` has every command with its line and an example. Written anew by `UPDATE_REFERENCE=1`. */
import { assert, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { program } from "../../../src/cli/program.ts"
import type { TreeNode } from "../../../src/cli/tree/Tree.ts"

const file = fileURLToPath(new URL("../../../docs/reference/cli.md", import.meta.url))

const lines = (nodes: ReadonlyArray<TreeNode>, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  nodes
    .filter(({ hidden }) => hidden !== true)
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
  ...lines(program.commands, []),
  ""
].join("\n")

it("the page of commands is that of the tree", () => {
  if (process.env["UPDATE_REFERENCE"] === "1") writeFileSync(file, page)
  assert.strictEqual(readFileSync(file, "utf8"), page)
})
