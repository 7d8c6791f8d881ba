/** One setting: what is in force, who set it, what it would be otherwise, and a form in its place when it is changed. */
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { kindOf } from "../../../forms/fields.ts"
import type { FieldSchema } from "../../../forms/operations.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { setting } from "../../../ui/handlers.ts"
import { Prose } from "../../../ui/Prose.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as parts } from "../../../words/parts.ts"
import { words } from "../../../words/system/settings.ts"
import { useWork } from "../../../ui/useWork.ts"
import { changeSetting, readSettings, shownAt, storeSetting, valueIn } from "./store.ts"
import { inWords, type Origin, shownValue } from "./value.ts"

/** Finds the schema of a setting in the body of its operation. */
export const schemaAt = (body: FieldSchema | undefined, name: string): FieldSchema | null => {
  let schema: FieldSchema | undefined = body
  for (const part of name.split(".")) {
    const kind = schema === undefined ? null : kindOf(schema)
    schema = kind?._tag === "Group" ? kind.schema.properties?.[part] : schema?.properties?.[part]
  }
  return schema ?? null
}

/** The breaker of local providers is no part of this page by rule: it is read here, and set elsewhere. */
const isReadOnly = ({ name, operation }: Origin): boolean =>
  operation === "resilienceUpdate" && name.startsWith("providerBreaker.local")

const Source = ({ origin: { changedAt, changedBy, source } }: { readonly origin: Origin }) => (
  <span class="setting-source">
    <State kind={source === "db" ? "trial" : "quiet"}>{words.sources[source]}</State>
    {source === "db" && changedBy !== null && <span class="quiet">{words.by(visible(changedBy))}</span>}
    {source === "db" && changedAt !== null && (
      <span class="quiet">
        <Time at={changedAt} />
      </span>
    )}
  </span>
)

interface Properties {
  readonly origin: Origin
  readonly schema: FieldSchema | null
}

/** Members of a form with one field. */
interface One {
  readonly value: unknown
}

export const SettingRow = ({ origin, schema }: Properties) => {
  const isChanging = useSignal(false)
  const { isBusy, run } = useWork([])
  const title = schema?.title ?? inWords(origin.name.slice(origin.name.lastIndexOf(".") + 1))
  const only = useMemo<FieldSchema>(() => ({ properties: { value: { ...schema, title } } }), [schema, title])
  const kind = schema === null ? null : kindOf(schema)
  const isSecret = kind?._tag === "Text" && kind.isSecret
  // A secret is not shown, and so not compared.
  const values = useMemo(() => ({ value: isSecret ? null : origin.value }), [origin.value, isSecret])
  const put = (value: unknown, ifMatch?: string): Promise<void> => storeSetting(origin, value, ifMatch)
  const change = async (): Promise<void> => {
    // The version that the edit begins from; without one it is saved over whatever is there.
    await readSettings(origin.operation).catch(() => null)
    isChanging.value = true
  }
  const reset = (): void =>
    void run(async () => {
      const { defaultValue, value } = origin
      await changeSetting(origin, value, defaultValue)
      toast("good", words.resetDone, {
        label: parts.undo,
        run: () => void run(() => changeSetting(origin, defaultValue, value))
      })
    })
  return (
    <li class="setting" id={`setting-${origin.operation}-${origin.name}`}>
      <div class="setting-about">
        <strong>{title}</strong> <code class="quiet">{visible(origin.name)}</code>
        {!isChanging.value && (
          <p class="quiet">
            <Prose text={schema?.description ?? ""} />
          </p>
        )}
      </div>
      {isChanging.value && schema !== null ? (
        <ValuesForm
          schema={only}
          values={values}
          stored={{
            call: shownAt(origin.operation),
            of: (answer) => (isSecret ? values : { value: valueIn(answer, origin.name) })
          }}
          save={(body, ifMatch) => put((body as unknown as One).value, ifMatch)}
          onSaved={setting(isChanging, false)}
          onCancel={setting(isChanging, false)}
        />
      ) : (
        <>
          <div class="setting-value">
            <span class="value">{visible(shownValue(origin.value))}</span>
            {origin.source === "db" && (
              <span class="quiet">{words.usual(visible(shownValue(origin.defaultValue)))}</span>
            )}
            <Source origin={origin} />
          </div>
          <div class="buttons">
            {schema === null || isReadOnly(origin) ? (
              <span class="quiet" title={isReadOnly(origin) ? words.localWhy : undefined}>
                {words.readOnly}
              </span>
            ) : (
              <>
                <button
                  key="change"
                  type="button"
                  class="button"
                  aria-label={`${words.change}: ${title}`}
                  onClick={() => void change()}
                >
                  {words.change}
                </button>
                {origin.source === "db" && !isSecret && (
                  <button
                    key="reset"
                    type="button"
                    class="button plain"
                    disabled={isBusy.value}
                    aria-label={`${words.reset}: ${title}`}
                    onClick={reset}
                  >
                    {words.reset}
                  </button>
                )}
              </>
            )}
          </div>
        </>
      )}
    </li>
  )
}
