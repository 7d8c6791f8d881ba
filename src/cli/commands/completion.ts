/** `gateway completion <shell>`: a script that completes commands, flags and names. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Console from "effect/Console"
import { scripts, type Shell } from "../completion/scripts.ts"

const shell = Args.choice<Shell>(
  [
    ["bash", "bash"],
    ["zsh", "zsh"],
    ["fish", "fish"]
  ],
  { name: "shell" }
)

export const completionCommand = Command.make("completion", { shell }, (given) => Console.log(scripts[given.shell]))
