/** The command line: one root command, and what the process does with how it ends. */
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { version } from "../platform/Version.ts"
import { comboCommand } from "./commands/combo.ts"
import { makeCompletion } from "./commands/completion.ts"
import { configCommand } from "./commands/config.ts"
import { doctorCommand } from "./commands/doctor.ts"
import { envCommand } from "./commands/env.ts"
import { keysCommand } from "./commands/keys.ts"
import { logsCommand } from "./commands/logs.ts"
import { modelsCommand } from "./commands/models.ts"
import { providerCommand } from "./commands/provider.ts"
import { providersCommand } from "./commands/providers.ts"
import { quotaCommand } from "./commands/quota.ts"
import { resilienceCommand } from "./commands/resilience.ts"
import { resetEncryptedColumns, resetPassword } from "./commands/reset.ts"
import { routeCommand } from "./commands/route.ts"
import { makeServe, serveCommand } from "./commands/serve.ts"
import { setupCommand } from "./commands/setup.ts"
import { healthCommand, statusCommand } from "./commands/status.ts"
import { about } from "./Flags.ts"
import { oldFlagProblem } from "./oldFlags.ts"
import { withPlainOutput } from "./output/plain.ts"
import { runMain } from "./run.ts"
import { serve } from "./serve.ts"

const completion = makeCompletion((shell) => {
  switch (shell) {
    case "bash":
      return Command.getBashCompletions(root, "gateway")
    case "zsh":
      return Command.getZshCompletions(root, "gateway")
    case "fish":
      return Command.getFishCompletions(root, "gateway")
  }
})

/** Everything there is. Without a subcommand it serves. */
const root = makeServe("gateway", serve).pipe(
  Command.withDescription(
    about(
      "Self-hosted gateway between AI clients and AI providers. Without a command it starts the gateway.",
      "--port 8080",
      "setup",
      "status --json"
    )
  ),
  Command.withSubcommands([
    serveCommand,
    setupCommand,
    doctorCommand,
    statusCommand,
    healthCommand,
    resilienceCommand,
    providersCommand,
    providerCommand,
    keysCommand,
    modelsCommand,
    comboCommand,
    routeCommand,
    quotaCommand,
    logsCommand,
    envCommand,
    configCommand,
    resetPassword,
    resetEncryptedColumns,
    completion
  ])
)

const run = Command.run(root, { name: "gateway", version })

const platform = Layer.mergeAll(
  NodeFileSystem.layer,
  NodePath.layer,
  NodeTerminal.layer,
  CliConfig.layer({ showBuiltIns: false }),
  Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))
)

/** Runs one command as the main program. `argv` is the process's own, with the runtime and the script in front. */
export const main = (argv: ReadonlyArray<string>): void =>
  runMain((oldFlagProblem(argv.slice(2)) ?? run(argv)).pipe(withPlainOutput, Effect.provide(platform)), 130)
