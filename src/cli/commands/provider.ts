/** `gateway provider …`: the connections of a running gateway. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { providerAdd } from "./provider/add.ts"
import { providerList } from "./provider/list.ts"

export const providerCommand = Command.make("provider").pipe(
  Command.withDescription(about("List and add the connections of a running gateway.", "provider list")),
  Command.withSubcommands([providerList, providerAdd])
)
