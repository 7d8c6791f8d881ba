/** `gateway serve`, also the default action. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { readWorkers } from "../../platform/Workers.ts"
import { taking } from "../flags/Forms.ts"
import { serve } from "../serve.ts"
import {
  hostPattern,
  maxPort,
  portPattern,
  type ServeFlags,
  serveOptions,
  toServeFlags
} from "../flags/serveOptions.ts"

const Host = Schema.String.pipe(Schema.pattern(hostPattern))
const Port = Schema.compose(Schema.String.pipe(Schema.pattern(portPattern)), Schema.NumberFromString).pipe(
  Schema.lessThanOrEqualTo(maxPort)
)

const Workers = Schema.transformOrFail(Schema.String, Schema.Number, {
  strict: true,
  decode: (text, _, ast) => {
    const workers = readWorkers(text)
    return workers === null ? ParseResult.fail(new ParseResult.Type(ast, text)) : ParseResult.succeed(workers)
  },
  encode: (workers) => ParseResult.succeed(String(workers))
})

/** A text flag of the table, by the rules of a plain start. */
const typed = <A>(
  option: { readonly flag: string; readonly description: string },
  kind: string,
  schema: Schema.Schema<A, string>
) =>
  Options.text(option.flag).pipe(
    Options.withPseudoName(kind),
    Options.withDescription(option.description),
    taking(schema, (text) => `--${option.flag}: '${text}' is not ${kind}`),
    Options.optional,
    Options.map(Option.getOrNull)
  )

const onOff = (option: { readonly flag: string; readonly description: string }) =>
  Options.boolean(option.flag).pipe(Options.withDescription(option.description))

/** The flags of `serve` as the command-line library reads them. */
export const serveConfig = {
  host: typed(serveOptions.host, "an address", Host),
  port: typed(serveOptions.port, "a port from 0 to 65535", Port),
  workers: typed(serveOptions.workers, "1 to 64 or auto", Workers),
  noOpen: onOff(serveOptions.noOpen),
  allowKeyless: onOff(serveOptions.allowKeyless)
}

/** `serve`, and anything else that takes the same flags. `run` is what is done with them. */
export const makeServe = <Name extends string, E, R>(
  name: Name,
  run: (flags: ServeFlags) => Effect.Effect<void, E, R>
) => Command.make(name, serveConfig, (given) => run(toServeFlags(given)))

export const serveCommand = makeServe("serve", serve)
