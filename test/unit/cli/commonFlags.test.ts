/** Flags that every command takes, over the whole tree: what runs is told of them, and gets only flags of its own. */
import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { CommonFlags, commonFlags, leadingFlags } from "../../../src/cli/flags/CommonFlags.ts"
import { dispatch } from "../../../src/cli/dispatch.ts"
import { program } from "../../../src/cli/program.ts"
import type { FlagShape, Shape } from "../../../src/cli/tree/Shape.ts"
import type { CliServices } from "../../../src/cli/tree/Leaf.ts"
import type { CommandNode, GroupNode, TreeNode } from "../../../src/cli/tree/Tree.ts"
import type { ParsedWords } from "../../../src/cli/tree/Arguments.ts"
import { allCommands } from "./inProcess.ts"

interface Ran {
  readonly common: typeof CommonFlags.Service
  readonly words: ParsedWords
}

/** The tree with a command that only notes what it is told. */
const noting = (node: CommandNode, ran: Array<Ran>): CommandNode => ({
  ...node,
  load: async () => ({
    ...(await node.load()),
    run: (words) => Effect.map(CommonFlags, (common) => void ran.push({ common, words }))
  })
})

const replaced = <Node extends TreeNode>(tree: Node, node: CommandNode, by: CommandNode): Node => {
  if (tree.kind === "command") return (tree as TreeNode) === node ? (by as TreeNode as Node) : tree
  const group: GroupNode = { ...tree, commands: tree.commands.map((each) => replaced(each, node, by)) }
  return group as TreeNode as Node
}

const valueOf = ({ choices, value }: Pick<FlagShape, "choices" | "value">): string =>
  choices[0] ?? (value === "integer" || value === "float" ? "1" : "x")

/** What a command needs to be well formed. */
const needed = ({ args, flags }: Shape): ReadonlyArray<string> => [
  ...flags.filter(({ required }) => required).flatMap((flag) => [flag.name, valueOf(flag)]),
  ...args.filter(({ required }) => required).map(({ choices }) => choices[0] ?? "x")
]

const common = ["--no-open", "--non-interactive", "--port", "4711"]

/** Runs the words on a tree in which the command notes; what it noted. */
const run = (node: CommandNode, words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const ran: Array<Ran> = []
    const exit = yield* Effect.either(dispatch(replaced(program, node, noting(node, ran)), words))
    if (Either.isLeft(exit)) assert.fail(`gateway ${words.join(" ")}: ${String(exit.left)}`)
    assert.lengthOf(ran, 1, words.join(" "))
    return ran[0] as Ran
  }) as Effect.Effect<Ran, never, Exclude<CliServices, CliServices>>

describe("flags that every command takes", () => {
  const commands = allCommands()

  it.effect("are taken behind the command and before it, and are told to what runs", () =>
    Effect.gen(function* () {
      assert.isAbove(commands.length, 150)
      for (const [path, node] of commands) {
        const { shape } = yield* Effect.promise(() => node.load())
        const own = (name: string): boolean => shape.flags.some((flag) => flag.name === name)
        const rest = needed(shape)
        for (const words of [
          [...path, ...rest, ...common],
          [...path, ...common, ...rest],
          [...common, ...path, ...rest],
          ["--port=4711", "--non-interactive", ...path, "--no-open", ...rest]
        ]) {
          const ran = yield* run(node, words)
          const why = words.join(" ")
          assert.strictEqual(ran.common.port, own("--port") ? null : 4711, why)
          assert.isTrue(ran.common.isSilent, why)
          for (const { name } of commonFlags) {
            assert.strictEqual(
              ran.words.flags.some((flag) => flag.name === name),
              own(name),
              `${why}: ${name}`
            )
          }
        }
        const plain = yield* run(node, [...path, ...rest, "--json"])
        assert.deepStrictEqual(plain.common, { port: null, isSilent: false, mayOpen: true })
      }
    })
  )

  it.effect(
    "are well formed, and no words of a program that is started",
    () =>
      Effect.gen(function* () {
        const refused = (...words: ReadonlyArray<string>) =>
          Effect.map(Effect.either(dispatch(program, words)), (exit) =>
            Either.isLeft(exit) ? `${String(exit.left)} ${JSON.stringify(exit.left)}` : ""
          )
        for (const port of ["0", "65536", "x", "-1", ""]) {
          assert.match(yield* refused("status", `--port=${port}`), /--port/, port)
        }
        assert.match(yield* refused("status", "--port", "80", "--port", "81"), /given twice/)
        assert.match(yield* refused("status", "--port"), /needs a value/)
        assert.match(yield* refused("status", "--no-opem"), /--no-open/)
        const launch = commands.find(([path]) => path.join(" ") === "launch")?.[1] as CommandNode
        const { common: told, words } = yield* run(launch, [
          "launch",
          "claude",
          "--",
          "--port",
          "1",
          "--non-interactive"
        ])
        assert.deepStrictEqual(told, { port: null, isSilent: false, mayOpen: true })
        assert.deepStrictEqual(words.args, ["claude", "--port", "1", "--non-interactive"])
      }) as Effect.Effect<void>
  )

  it("are told from words of a command", () => {
    assert.deepStrictEqual(leadingFlags(["--port", "1", "--no-open", "key", "list"]), {
      flags: ["--port", "1", "--no-open"],
      rest: ["key", "list"]
    })
    assert.deepStrictEqual(leadingFlags(["--non-interactive", "--mcp"]), {
      flags: ["--non-interactive"],
      rest: ["--mcp"]
    })
    for (const words of [[], ["key", "--no-open"], ["--port", "8080"], ["--no-open", "--host", "::1"], ["--port"]]) {
      assert.isNull(leadingFlags(words), words.join(" "))
    }
  })

  it.effect("every command tells the version and its help, whatever else is given", () =>
    Effect.gen(function* () {
      for (const [path] of commands) {
        for (const flag of ["--version", "--help"]) {
          const said: Array<string> = []
          const console = yield* Console.consoleWith(Effect.succeed)
          yield* dispatch(program, [...path, "--no-open", flag]).pipe(
            Effect.withConsole({ ...console, log: (...text) => Effect.sync(() => void said.push(text.join(" "))) })
          ) as Effect.Effect<void>
          assert.match(said.join("\n"), flag === "--help" ? /gateway / : /^\d+\.\d+\.\d+/, path.join(" "))
        }
      }
    })
  )
})
