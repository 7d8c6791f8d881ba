/** `gateway completion <shell>`: a script that completes commands and flags. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { about } from "../Flags.ts"
import * as Output from "../output/Output.ts"

type Shell = "bash" | "zsh" | "fish"

/** The lines of the script for a shell. Given later, because they are about the whole program, this command included. */
type Script = (shell: Shell) => Effect.Effect<ReadonlyArray<string>>

const shell = Args.choice<Shell>(
  [
    ["bash", "bash"],
    ["zsh", "zsh"],
    ["fish", "fish"]
  ],
  { name: "shell" }
)

export const makeCompletion = (script: Script) =>
  Command.make("completion", { shell }, (given) =>
    Effect.flatMap(script(given.shell), (lines) => Output.print(lines.join("\n")))
  ).pipe(
    Command.withDescription(
      about(
        "Print a completion script for bash, zsh or fish.",
        "completion bash > ~/.local/share/bash-completion/completions/gateway"
      )
    )
  )
