/** The command line as the process's main program. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { leadingFlags } from "./flags/CommonFlags.ts"
import { commandLogger } from "./commandLog.ts"
import { describing } from "./describing.ts"
import { dispatch } from "./dispatch.ts"
import { CommandIndex } from "../platform/CommandIndex.ts"
import { noColor, withoutColours, withPlainOutput } from "./output/plain.ts"
import { program } from "./program.ts"
import { runMain } from "./run.ts"

/** Questions are coloured by the command-line library; NO_COLOR (https://no-color.org) asks for none. */
const plainQuestions = Layer.effect(
  Terminal.Terminal,
  Effect.map(Effect.all([Terminal.Terminal, noColor]), ([terminal, plain]) =>
    plain ? { ...terminal, display: (text) => terminal.display(withoutColours(text)) } : terminal
  )
)

const platform = Layer.mergeAll(
  NodeFileSystem.layer,
  NodePath.layer,
  Layer.provide(plainQuestions, NodeTerminal.layer),
  Logger.replace(Logger.defaultLogger, commandLogger)
)

/** A reader that goes away, such as `head`, has had what it wanted. */
const endWithReader = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
    process.exit(0)
  })
}

/** Runs one command. `argv` is the process's own, with the runtime and the script in front. */
export const main = (argv: ReadonlyArray<string>): void => {
  endWithReader()
  const words = argv.slice(2)
  // What clients of the Model Context Protocol start.
  const leading = leadingFlags(words) ?? { flags: [], rest: words }
  const [first, ...others] = leading.rest
  const given = first === "--mcp" ? ["mcp", "serve", ...leading.flags, ...others] : words
  runMain(
    dispatch(program, given).pipe(
      withPlainOutput,
      Effect.provideService(CommandIndex, describing),
      Effect.provide(platform)
    ),
    130
  )
}
