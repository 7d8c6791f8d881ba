/** `gateway keys …`: the API keys of a gateway. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { keysAdd } from "./keys/add.ts"
import { keysList } from "./keys/list.ts"
import { keysRemove } from "./keys/remove.ts"

export const keysCommand = Command.make("keys").pipe(
  Command.withDescription(about("Administer the gateway's API keys.", "keys list")),
  Command.withSubcommands([keysAdd, keysList, keysRemove])
)
