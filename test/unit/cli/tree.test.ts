import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { withOutputFlags } from "../../../src/cli/output/Format.ts"
import { program } from "../../../src/cli/program.ts"
import { find, type GroupNode, type TreeNode } from "../../../src/cli/tree/Tree.ts"
import { sortWords } from "../../../src/cli/tree/Arguments.ts"
import { allCommands, typed } from "./inProcess.ts"

const commands = allCommands()

const groups = (node: TreeNode): ReadonlyArray<GroupNode> =>
  node.kind === "group" ? [node, ...node.commands.flatMap(groups)] : []

/** The words of an example, taken apart as a shell does: quotes hold blanks together, and what goes to or comes from a file is none. */
const shellWords = (line: string): ReadonlyArray<string> => {
  const words = [...line.matchAll(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/g)].map(([word]) => word)
  const end = words.findIndex((word) => word === ">" || word === "<" || word === "|")
  return (end === -1 ? words : words.slice(0, end)).map((word) =>
    word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_, plain?: string, double?: string, char?: string) =>
      plain !== undefined ? plain : double !== undefined ? double.replaceAll(/\\(["\\$`])/g, "$1") : (char ?? "")
    )
  )
}

describe("the tree of commands", () => {
  it("takes examples apart as a shell does", () => {
    const line = `set a=b 'p=Answer in English.' "two \\"words\\"" x'='y\\ z ""  < lines.txt`
    assert.deepStrictEqual(shellWords(line), ["set", "a=b", "p=Answer in English.", 'two "words"', "x=y z", ""])
  })

  it("describes every command in one line", () => {
    for (const [path, { summary }] of commands) {
      assert.match(summary, /^[A-Z][^\n]{5,70}\.$/, path.join(" "))
    }
    for (const { name, summary } of groups(program).slice(1)) assert.match(summary, /^[A-Z][^\n]{5,70}\.$/, name)
  })

  it("has no name twice on one level", () => {
    for (const group of groups(program)) {
      const names = group.commands.flatMap(({ aliases, name }) => [name, ...aliases])
      assert.deepStrictEqual(names, [...new Set(names)], group.name)
    }
  })

  it("has an example of its own for every command, and each can be typed", async () => {
    for (const [path, node] of commands) {
      if (node.hidden === true) continue
      assert.isNotEmpty(node.examples, path.join(" "))
      assert.isTrue(
        node.examples.some((example) => find(program, shellWords(example)).node === node),
        path.join(" ")
      )
    }
    const examples = [
      ...commands.map(([, { examples }]) => examples),
      ...groups(program).map(({ examples }) => examples)
    ]
    for (const example of examples.flat()) {
      const { node, rest } = find(program, shellWords(example))
      const command = node.kind === "command" ? node : node.commands.find(({ name }) => name === node.otherwise?.name)
      assert.strictEqual(command?.kind, "command", example)
      if (command?.kind !== "command") continue
      const { shape } = await command.load()
      const sorted = sortWords(command.prints === false ? shape : withOutputFlags(shape), rest, "x")
      assert.isTrue(Either.isRight(sorted), `${example}: ${Either.isLeft(sorted) ? sorted.left.message : ""}`)
    }
  })

  it.effect("offers --json and -o on every command that prints", () =>
    Effect.gen(function* () {
      for (const [path, { hidden, prints }] of commands) {
        if (prints === false || hidden === true) continue
        const { stdout } = yield* typed([...path, "--help"])
        assert.include(stdout, "  --json ", path.join(" "))
        assert.include(stdout, "-o, --output <format>", path.join(" "))
      }
    })
  )

  it.effect("renders help of every command in 100 columns, and in 40", () =>
    Effect.gen(function* () {
      for (const [path] of commands) {
        for (const columns of [null, 100, 40]) {
          const { code, stderr, stdout } = yield* typed(["help", ...path], columns)
          assert.deepStrictEqual([code, stderr], [0, ""], path.join(" "))
          // What cannot be broken between words may be longer, such as an example.
          const text = stdout.slice(0, columns === 40 ? stdout.indexOf("Examples") : undefined)
          for (const line of text.split("\n")) {
            if (/\S{36}/.test(line)) continue
            assert.isAtMost(line.length, columns ?? 100, `${path.join(" ")}: ${line}`)
          }
        }
      }
    })
  )

  it.effect("answers --help of a command as 'help' does", () =>
    Effect.gen(function* () {
      for (const path of [["key", "add"], ["provider"], ["logs"], []]) {
        const asked = yield* typed(["help", ...path])
        assert.deepStrictEqual(yield* typed([...path, "--help"]), asked)
        assert.deepStrictEqual(yield* typed([...path, "-h"]), asked)
      }
    })
  )

  it.effect("shows the commands of the program on one screen, a line each under headings", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* typed(["--help"], 100)
      assert.deepStrictEqual([code, stderr], [0, ""])
      const lines = stdout.split("\n")
      assert.isAtLeast(lines.length, 24)
      assert.isAtMost(lines.length, 40)
      for (const heading of ["Start", "Use", "Connect", "Route", "Watch", "Settings"]) assert.include(lines, heading)
      for (const { besides, hidden, name, summary } of program.commands) {
        const shown = lines.filter((line) => line.startsWith(`  ${name} `) && line.endsWith(summary))
        assert.lengthOf(shown, hidden === true || besides === true ? 0 : 1, name)
        // What has no line of its own is named by one that has.
        const named = name.startsWith("setup-") ? "setup-<tool>" : `\\b${name}\\b`
        if (besides === true) assert.isTrue(new RegExp(named).test(stdout), name)
      }
    })
  )
})

describe("a wrong word", () => {
  const answers: ReadonlyArray<readonly [words: string, ...parts: ReadonlyArray<string>]> = [
    ["statsu", "'statsu' is not a command.", "Did you mean 'status'?"],
    ["keyz", "Did you mean 'key'?"],
    ["qqqqqq", "See 'gateway help'."],
    ["add", "'provider add'", "'key add'"],
    ["key lst", "'gateway key' has no command 'lst'.", "Did you mean 'list'?"],
    ["quota groups qqqqqq", "See 'gateway help quota groups'."],
    ["provider qqqqqq --help", "'gateway provider' has no command 'qqqqqq'."],
    ["help foo", "'foo' is not a command."],
    ["help status foo", "'gateway status' has no commands"],
    ["logs --limt 5", "'gateway logs' has no flag '--limt'.", "Did you mean '--limit'?"],
    ["--prot 80", "'gateway serve' has no flag '--prot'.", "'--port'"],
    ["logs --limit x", "--limit: 'x' is not a whole number."],
    ["logs --limit", "--limit needs a value."],
    ["logs --limit --json", "--limit needs a value."],
    ["logs --limit 1 --limit 2", "--limit is given twice."],
    ["logs --follow=yes", "--follow takes no value."],
    ["key add", "<name> is missing.", "Usage: gateway key add <name> [flags]"],
    ["key add one two", "'two' is one word too many."],
    ["combo create fast --stratgy priority openai/x", "Did you mean '--strategy'?"],
    ["combo create fast openai/x --strategy fastest", "--strategy: 'fastest' is none of "],
    ["combo create fast", "<model> is missing."],
    ["route replay", "--combo is missing."],
    ["completion tcsh", "<shell>: 'tcsh' is none of bash, zsh, fish."],
    ["status -o yaml", "--output: 'yaml' is none of table, wide, json, jsonl, csv, name."],
    ["status --json -o csv", "contradict"]
  ]
  it.effect.each(answers)("'%s' is answered at its level in two lines, with exit code 2", ([line, ...parts]) =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* typed(line.split(" "))
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.isAtMost(stderr.split("\n").length, 2)
      for (const part of parts) assert.include(stderr, part)
    })
  )
})
