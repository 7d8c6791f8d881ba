/** `gateway setup tools`: the coding tools that are on this machine, set up together. */
import * as Command from "@effect/cli/Command"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { toolSetups } from "../../../agents/tools/config/tools/index.ts"
import type { ToolSetup } from "../../../agents/tools/config/ToolSetup.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { programOf } from "./installed.ts"
import { placesNow } from "./places.ts"
import { flags, Result, setUp, type SetupFlags, textOf } from "./setup.ts"

const Failed = Schema.Struct({ tool: Schema.String, error: Schema.String })
const Results = Schema.Struct({
  /** Ids of the tools that are here. */
  found: Schema.Array(Schema.String),
  set: Schema.Array(Result),
  failed: Schema.Array(Failed)
})

interface Found {
  readonly tool: ToolSetup
  readonly path: string
}

const found = Effect.map(placesNow, (places) =>
  toolSetups.flatMap((tool): ReadonlyArray<Found> => {
    const path = programOf(tool, places)
    return path === null ? [] : [{ tool, path }]
  })
)

const which = (all: ReadonlyArray<Found>) =>
  Prompt.multiSelect({
    message: "Which are to use the gateway?",
    choices: all.map(({ path, tool }) => ({ title: `${tool.name} (${path})`, value: tool, selected: true }))
  })

const messageOf = (error: CliFailure): string => error.message

/** One that cannot be set up does not keep the others from it. */
const setEach = (tools: ReadonlyArray<ToolSetup>, given: SetupFlags) =>
  Effect.forEach(tools, (tool) =>
    Effect.match(setUp(tool, given), {
      onSuccess: (value) => ({ tool, value, error: null }),
      onFailure: (error) => ({ tool, value: null, error: messageOf(error) })
    })
  )

/** Sets up several tools. Without a terminal and `--yes` it only lists the installed ones. */
export const setUpSeveral = (given: SetupFlags) =>
  Effect.gen(function* () {
    if (given.undo) {
      return yield* new BadArgument({ message: "--undo is for one tool.", hint: "Use 'gateway setup-<tool> --undo'." })
    }
    const here = yield* found
    const asks = !given.yes && (yield* canAsk)
    const chosen = here.length === 0 ? [] : asks ? yield* which(here) : given.yes ? here.map(({ tool }) => tool) : []
    const ends = yield* setEach(chosen, given)
    const value = {
      found: here.map(({ tool }) => tool.id),
      set: ends.flatMap((end) => end.value ?? []),
      failed: ends.flatMap(({ error, tool }) => (error === null ? [] : [{ tool: tool.id, error }]))
    }
    const texts = ends.map(({ error, tool, value: done }) =>
      done === null ? `${tool.name}: ${error}` : `${tool.name}:\n${textOf(tool, done)}`
    )
    const list = here.map(({ path, tool }) => `${tool.name}: ${path}`)
    const said =
      here.length === 0
        ? ["No coding tool was found on the PATH."]
        : asks || given.yes
          ? texts
          : [...list, "Set them up with 'gateway setup tools --yes', or one with 'gateway setup-<tool>'."]
    yield* Output.result({ schema: Results, value, text: Output.print(said.join("\n")), name: value.found.join(" ") })
    if (value.failed.length > 0) {
      return yield* new CommandFailed({
        message: `${Output.counted(value.failed.length, "tool")} could not be set up.`
      })
    }
  })

export const setupToolsCommand = Command.make("setup-tools", flags, setUpSeveral)

/** Sets up the installed tools for `gateway setup tools`, which has the flags of the wizard. */
export const setUpFound = (yes: boolean) =>
  setUpSeveral({
    ...Client.here,
    local: false,
    remote: Option.none(),
    apiKey: Option.none(),
    port: Option.none(),
    model: Option.none(),
    only: [],
    dryRun: false,
    undo: false,
    yes
  })
