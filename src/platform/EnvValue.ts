/** A variable that is set to nothing is not set: it does not replace a default, another variable or the settings file. */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"

/** White space as long as a secret is a mistake that has to be named, not nothing. */
const longestBlank = 15

/** Checks whether a value is blank: empty, or some white space. */
export const isBlank = (value: string): boolean => value.length <= longestBlank && value.trim() === ""

/** The variables that are set. */
export const setOnly = (environment: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isBlank(entry[1])
    )
  )

const text = Config.string() as Config.Config.Primitive<string>

/** The same provider without variables that are set to nothing. */
export const withoutBlank = (provider: ConfigProvider.ConfigProvider): ConfigProvider.ConfigProvider => {
  const { flattened } = provider
  return ConfigProvider.fromFlat({
    ...flattened,
    load: (path, config, split) =>
      Effect.flatMap(flattened.load(path, text, false), (values) =>
        values.every(isBlank)
          ? Effect.fail(ConfigError.MissingData([...path], `${path.join("_")} is not set`))
          : flattened.load(path, config, split)
      )
  })
}
