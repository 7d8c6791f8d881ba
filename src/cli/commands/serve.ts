/** `gateway serve`, also the default action. */
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { about } from "../Flags.ts"
import { serve } from "../serve.ts"
import { parseHost, parsePort, type ServeFlags, serveOptions, toServeFlags } from "../serveOptions.ts"

/** A text flag of the table, read by the function that reads it in a plain start. */
const parsed = <A>(
  option: { readonly flag: string; readonly description: string },
  kind: string,
  read: (text: string) => A | null
) =>
  Options.text(option.flag).pipe(
    Options.withPseudoName(kind),
    Options.withDescription(option.description),
    Options.mapEffect((text) => {
      const value = read(text)
      return value === null
        ? Effect.fail(ValidationError.invalidValue(HelpDoc.p(`--${option.flag}: '${text}' is not ${kind}`)))
        : Effect.succeed(value)
    }),
    Options.optional,
    Options.map(Option.getOrNull)
  )

const onOff = (option: { readonly flag: string; readonly description: string }) =>
  Options.boolean(option.flag).pipe(Options.withDescription(option.description))

/** The flags of `serve` as the command-line library reads them. */
const serveConfig = {
  host: parsed(serveOptions.host, "an address", parseHost),
  port: parsed(serveOptions.port, "a port from 0 to 65535", parsePort),
  noOpen: onOff(serveOptions.noOpen),
  allowKeyless: onOff(serveOptions.allowKeyless)
}

/** `serve`, and anything else that takes the same flags. `run` is what is done with them. */
export const makeServe = <Name extends string, E, R>(
  name: Name,
  run: (flags: ServeFlags) => Effect.Effect<void, E, R>
) => Command.make(name, serveConfig, (given) => run(toServeFlags(given)))

export const serveCommand = makeServe("serve", serve).pipe(
  Command.withDescription(about("Start the gateway; this is what 'gateway' alone does.", "serve --port 8080 --no-open"))
)
