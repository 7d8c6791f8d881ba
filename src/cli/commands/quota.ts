/** `gateway quota …`: who shares the quota of which connections. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { quotaGroups } from "./quota/groups.ts"

export const quotaCommand = Command.make("quota").pipe(
  Command.withDescription(about("Administer the sharing of quotas.", "quota groups list")),
  Command.withSubcommands([quotaGroups])
)
