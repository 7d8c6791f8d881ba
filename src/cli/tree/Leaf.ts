/** A command of the command-line library, ready to be described and run. */
import * as CliConfig from "@effect/cli/CliConfig"
import type * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import type * as ValidationError from "@effect/cli/ValidationError"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import { BadArgument } from "../Failure.ts"
import { paragraphs, type Shape, shapeOf } from "./Shape.ts"
import type { ParsedWords } from "./Arguments.ts"

/** Services that commands may use. */
export type CliServices = FileSystem.FileSystem | Path.Path | Terminal.Terminal

export interface Leaf {
  readonly shape: Shape
  readonly run: (words: ParsedWords) => Effect.Effect<void, unknown, CliServices>
}

const config = CliConfig.make({ isCaseSensitive: true, autoCorrectLimit: 0, showBuiltIns: false })

const asBadArgument = (error: ValidationError.ValidationError): BadArgument =>
  new BadArgument({ message: paragraphs(error.error).join(" ") })

export const toLeaf = <Name extends string, R extends CliServices, E, A>(
  command: Command.Command<Name, R, E, A>
): Leaf => {
  const shape = shapeOf(command)
  const [name = ""] = CommandDescriptor.getNames(command.descriptor)
  return {
    shape,
    run: ({ args, flags }) =>
      Effect.gen(function* () {
        const given = flags.flatMap(({ name: flag, value }) => (value === null ? [flag] : [flag, value]))
        const parsed = yield* CommandDescriptor.parse(command.descriptor, [name, ...given, "--", ...args], config).pipe(
          Effect.mapError(asBadArgument)
        )
        if (parsed._tag === "UserDefined") yield* command.transform(command.handler(parsed.value), parsed.value)
      })
  }
}
