/** `gateway providers …`: the catalogue, and the connections of this machine's data folder without a running gateway. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { providersAvailable } from "./providers/available.ts"
import { providersList } from "./providers/list.ts"
import { providersTest, providersTestAll } from "./providers/test.ts"
import { providersValidate } from "./providers/validate.ts"

export const providersCommand = Command.make("providers").pipe(
  Command.withDescription(
    about("Look through the provider catalogue, and check this machine's connections.", "providers available")
  ),
  Command.withSubcommands([providersAvailable, providersList, providersTest, providersTestAll, providersValidate])
)
