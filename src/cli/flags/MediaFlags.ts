/** Flags of the commands that ask for media and write files. */
import * as Options from "@effect/cli/Options"

/** `kind` of model, such as "A speech model". */
export const modelOf = (kind: string) =>
  Options.text("model").pipe(
    Options.withAlias("m"),
    Options.withDescription(`${kind}. Default: the first that the gateway knows.`),
    Options.optional
  )

export const outTo = (description: string) =>
  Options.text("out").pipe(Options.withAlias("o"), Options.withDescription(description), Options.optional)

export const force = Options.boolean("force").pipe(Options.withDescription("Replace files that are there."))

export const jsonOf = (description: string) => Options.boolean("json").pipe(Options.withDescription(description))
