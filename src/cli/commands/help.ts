/** `gateway help <command…>` */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { wrongCommand } from "../tree/Wrong.ts"
import { showHelp } from "../help/show.ts"
import { find, type GroupNode } from "../tree/Tree.ts"

export const makeHelp = (root: GroupNode) =>
  Command.make("help", { command: Args.text({ name: "command" }).pipe(Args.repeated) }, (given) =>
    Effect.gen(function* () {
      const found = find(root, given.command)
      if (found.rest.length > 0) return yield* wrongCommand(root, found)
      yield* showHelp(root, found)
    })
  )
