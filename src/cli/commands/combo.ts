/** `gateway combo …`: the routing combos of a running gateway. */
import * as Command from "@effect/cli/Command"
import { about } from "../Flags.ts"
import { comboAuto } from "./combo/auto.ts"
import { comboCreate } from "./combo/create.ts"
import { comboDelete } from "./combo/delete.ts"
import { comboList } from "./combo/list.ts"
import { comboSwitch } from "./combo/switch.ts"

export const comboCommand = Command.make("combo").pipe(
  Command.withDescription(about("Administer routing combos: names that stand for several models.", "combo list")),
  Command.withSubcommands([comboList, comboAuto, comboCreate, comboSwitch, comboDelete])
)
