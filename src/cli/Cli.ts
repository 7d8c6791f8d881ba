/** The command line as the process's main program. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { commandLogger } from "./commandLog.ts"
import { dispatch } from "./dispatch.ts"
import { withPlainOutput } from "./output/plain.ts"
import { program } from "./program.ts"
import { runMain } from "./run.ts"

const platform = Layer.mergeAll(
  NodeFileSystem.layer,
  NodePath.layer,
  NodeTerminal.layer,
  Logger.replace(Logger.defaultLogger, commandLogger)
)

/** Runs one command. `argv` is the process's own, with the runtime and the script in front. */
export const main = (argv: ReadonlyArray<string>): void =>
  runMain(dispatch(program, argv.slice(2)).pipe(withPlainOutput, Effect.provide(platform)), 130)
