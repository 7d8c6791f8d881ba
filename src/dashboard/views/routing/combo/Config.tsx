/** The settings of a combo: those of its strategy, and those that count under any. */
import type { Texts } from "../../../forms/body.ts"
import { emptied, textsOf } from "../../../forms/edited.ts"
import { Fields, type FormState } from "../../../forms/Field.tsx"
import type { FieldSchema } from "../../../forms/operations.ts"
import { words } from "../../../words/routing.ts"
import type { Strategy } from "../../../words/routing.ts"
import { settingsOf } from "./settings.ts"

interface Properties {
  readonly schema: FieldSchema
  readonly strategy: Strategy
  /** The settings as they are stored. */
  readonly config: Readonly<Record<string, unknown>>
  readonly typed: Texts
  readonly problems: Readonly<Record<string, string>>
  readonly onTyped: (typed: Texts) => void
}

const noneCleared: ReadonlySet<string> = new Set()

export const Config = ({ config, onTyped, problems, schema, strategy, typed }: Properties) => {
  const { common, own } = settingsOf(schema, strategy)
  const texts = textsOf(schema, config)
  const form: FormState = {
    texts: { ...texts, ...typed },
    cleared: noneCleared,
    problems,
    setText: (path, text) => onTyped({ ...typed, [path]: text }),
    setCleared: (path) => onTyped(emptied(typed, texts, path))
  }
  const isSet = Object.keys(common.properties ?? {}).some((name) => config[name] !== undefined)
  return (
    <>
      <fieldset class="group">
        <legend>{words.combo.settings}</legend>
        {Object.keys(own.properties ?? {}).length === 0 ? (
          <p class="quiet">{words.combo.noSettings}</p>
        ) : (
          <div class="settings">
            <Fields schema={own} path="" form={form} />
          </div>
        )}
      </fieldset>
      <details class="group more" open={isSet}>
        <summary>{words.combo.moreSettings}</summary>
        <div class="settings">
          <Fields schema={common} path="" form={form} />
        </div>
      </details>
    </>
  )
}
