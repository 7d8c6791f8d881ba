/** The command line within the test's own process: what a command prints, and its exit code. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { dispatch } from "../../../src/cli/dispatch.ts"
import { exitCode, report } from "../../../src/cli/Failure.ts"
import { withPlainOutput } from "../../../src/cli/output/plain.ts"
import { Screen } from "../../../src/cli/output/Screen.ts"
import { program } from "../../../src/cli/program.ts"
import type { CommandNode, TreeNode } from "../../../src/cli/tree/Tree.ts"

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command. `columns` is the width of the terminal; null, a pipe. */
export const typed = (words: ReadonlyArray<string>, columns: number | null = null): Effect.Effect<Said> =>
  Effect.gen(function* () {
    const out: Array<string> = []
    const err: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    const exit = yield* dispatch(program, words).pipe(
      withPlainOutput,
      Effect.withConsole({
        ...console,
        log: (...text) => Effect.sync(() => void out.push(text.join(" "))),
        error: (...text) => Effect.sync(() => void err.push(text.join(" ")))
      }),
      Effect.provideService(Screen, { columns: () => columns }),
      Effect.provide(platform),
      Effect.exit
    )
    if (Exit.isFailure(exit)) err.push(report(exit.cause) ?? Cause.pretty(exit.cause))
    return { code: exitCode(exit), stdout: out.join("\n"), stderr: err.join("\n") }
  })

/** Every command with its path, hidden ones too. */
export const allCommands = (
  nodes: ReadonlyArray<TreeNode> = program.commands,
  path: ReadonlyArray<string> = []
): ReadonlyArray<readonly [path: ReadonlyArray<string>, node: CommandNode]> =>
  nodes.flatMap((node) =>
    node.kind === "command" ? [[[...path, node.name], node] as const] : allCommands(node.commands, [...path, node.name])
  )
