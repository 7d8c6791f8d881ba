/** `gateway complete -- <words…>`: what fits at the end of a command line, for the scripts of `gateway completion`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { harmless } from "../../kernel/text/TerminalText.ts"
import { matching, propose } from "../completion/candidates.ts"
import { liveNames } from "../completion/live.ts"
import type { GroupNode } from "../tree/Tree.ts"

const longestSummary = 60

const words = Args.text({ name: "word" }).pipe(Args.repeated)

/** A word that is being typed waits no longer. */
const within = Options.integer("within").pipe(
  Options.withDescription("Milliseconds to wait for names of the gateway's objects."),
  Options.withDefault(350)
)

/** Fails never and says nothing rather than to disturb what is being typed. */
export const makeComplete = (root: GroupNode) =>
  Command.make("complete", { words, within }, (given) =>
    Effect.gen(function* () {
      const proposal = yield* Effect.promise(() =>
        propose(root, given.words, (node) => node.load().then(({ shape }) => shape))
      )
      const typed = given.words.at(-1) ?? ""
      const named = yield* liveNames(proposal.live, given.within)
      const fitting = matching([...proposal.candidates, ...named], typed)
      if (proposal.files) yield* Console.log(":files")
      for (const { summary, value } of fitting) {
        const short = summary.length > longestSummary ? `${summary.slice(0, longestSummary - 1)}…` : summary
        yield* Console.log(harmless(value) + (short === "" ? "" : `\t${harmless(short)}`))
      }
    }).pipe(Effect.catchAllCause(() => Effect.void))
  )
