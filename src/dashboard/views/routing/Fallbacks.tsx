/** Models that stand in for ids that nothing serves, and for what agents ask in the background: members of the gateway's settings. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { gatewaySettingsGet, gatewaySettingsUpdate } from "../../api/calls.generated.ts"
import { queries, useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Merge } from "../../ui/merge/Merge.tsx"
import { isSame } from "../../ui/merge/merge.ts"
import { ModelInput } from "../../ui/ModelInput.tsx"
import { useSaving, type Version } from "../../ui/merge/saving.ts"
import { toast } from "../../ui/toasts.tsx"
import { words as merging } from "../../words/merge.ts"
import { words } from "../../words/routingParts.ts"

/** Members of the gateway's settings that are edited here. */
type Part = Pick<AnswerOf<typeof gatewaySettingsGet>, "modelFallbacks" | "backgroundModel">

const partOf = ({ backgroundModel, modelFallbacks }: Part): Part => ({ modelFallbacks, backgroundModel })

const key = ["settings", "fallbacks"]

/** The version is that of all settings; a change of others is sent again with theirs where these two are as they were. */
const send = async (value: Part, tag: string | undefined, base: Part, tries = 1): Promise<Version<Part>> => {
  try {
    const saved = await gatewaySettingsUpdate.versioned({ body: value, ifMatch: tag })
    const version = { value: partOf(saved.answer), tag: saved.tag }
    queries.setQueryData(key, version)
    return version
  } catch (error) {
    const { answer, status, tag: next } = error as { answer?: { current?: Part }; status?: number; tag?: string | null }
    const current = answer?.current
    if (status !== 412 || current === undefined || next === null || next === undefined || tries > 3) throw error
    if (!isSame(partOf(current), base)) throw error
    return send(value, next, base, tries + 1)
  }
}

interface Line {
  readonly key: number
  readonly pattern: string
  readonly model: string
}

let lastKey = 0

const linesOf = ({ modelFallbacks }: Part): ReadonlyArray<Line> =>
  Object.entries(modelFallbacks).map(([pattern, model]) => ({ key: ++lastKey, pattern, model }))

const problemOf = ({ model, pattern }: Line, index: number, lines: ReadonlyArray<Line>): string | null => {
  if ((model.trim() === "") !== (pattern.trim() === "")) return words.fallbacks.empty
  const isTwice = pattern.trim() !== "" && lines.findIndex((line) => line.pattern.trim() === pattern.trim()) !== index
  return isTwice ? words.fallbacks.twice : null
}

const readLines = (lines: ReadonlyArray<Line>): Part["modelFallbacks"] =>
  Object.fromEntries(
    lines.filter(({ pattern }) => pattern.trim() !== "").map(({ model, pattern }) => [pattern.trim(), model.trim()])
  )

interface RowsProperties {
  readonly lines: ReadonlyArray<Line>
  readonly onLines: (lines: ReadonlyArray<Line>) => void
}

const Rows = ({ lines, onLines }: RowsProperties) => (
  <>
    {lines.length === 0 && <p class="quiet">{words.fallbacks.none}</p>}
    <ul class="fallbacks">
      {lines.map((line, index) => {
        const problem = problemOf(line, index, lines)
        const change = (part: Partial<Line>): void => onLines(lines.with(index, { ...line, ...part }))
        return (
          <li key={line.key}>
            <input
              class="input"
              autocomplete="off"
              spellcheck={false}
              placeholder="claude-haiku-*"
              aria-label={words.fallbacks.patternAt(index + 1)}
              aria-invalid={problem !== null}
              value={line.pattern}
              onInput={(event) => change({ pattern: event.currentTarget.value })}
            />
            <span aria-hidden="true">→</span>
            <ModelInput
              label={words.fallbacks.modelAt(index + 1)}
              value={line.model}
              onValue={(model) => change({ model })}
            />
            <button
              type="button"
              class="button plain"
              aria-label={words.fallbacks.remove(index + 1)}
              onClick={() => onLines(lines.toSpliced(index, 1))}
            >
              <Icon name="close" />
            </button>
            {problem !== null && (
              <p class="problem" role="alert">
                {problem}
              </p>
            )}
          </li>
        )
      })}
    </ul>
    <div class="buttons">
      <button
        type="button"
        class="button"
        onClick={() => onLines([...lines, { key: ++lastKey, pattern: "", model: "" }])}
      >
        <Icon name="add" /> {words.fallbacks.add}
      </button>
    </div>
  </>
)

const Form = ({ version }: { readonly version: Version<Part> }) => {
  const base = useSignal(version)
  const lines = useSignal(linesOf(version.value))
  const background = useSignal(version.value.backgroundModel ?? "")
  const mine: Part = {
    modelFallbacks: readLines(lines.value),
    backgroundModel: background.value.trim() === "" ? null : background.value.trim()
  }
  const isEdited = !isSame(mine, base.value.value)
  const isWrong = lines.value.some((line, index) => problemOf(line, index, lines.value) !== null)
  const adopt = (stored: Version<Part>): void => {
    base.value = stored
    lines.value = linesOf(stored.value)
    background.value = stored.value.backgroundModel ?? ""
  }
  useEffect(() => {
    if (!isEdited && !isWrong && version.tag !== base.value.tag) adopt(version)
  }, [version.tag, isEdited, isWrong])
  const saving = useSaving<Part>({
    send: (value, tag, before) => send(value, tag, before),
    shown: (current) => partOf(current as Part),
    onSaved: (saved) => {
      adopt(saved)
      toast("good", merging.saved(words.fallbacks.name))
    }
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    if (!isWrong) void saving.save(base.value, mine)
  }
  return (
    <form class="card stack" onSubmit={submit} aria-label={words.fallbacks.name}>
      <Rows
        lines={lines.value}
        onLines={(next) => {
          lines.value = next
        }}
      />
      <div class="field">
        <label for="background-model">{words.fallbacks.background}</label>
        <ModelInput
          id="background-model"
          describedBy="background-hint"
          value={background.value}
          onValue={(value) => {
            background.value = value
          }}
        />
        <p id="background-hint" class="hint">
          {words.fallbacks.backgroundHint}
        </p>
      </div>
      {saving.error.value !== null && <Failure error={saving.error.value} />}
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={!isEdited || isWrong || saving.isBusy.value}>
          {words.fallbacks.save}
        </button>
        {isEdited && (
          <button type="button" class="button" onClick={() => adopt(version)}>
            {words.fallbacks.discard}
          </button>
        )}
      </div>
      <Merge name={words.fallbacks.name} saving={saving} />
    </form>
  )
}

export const Fallbacks = () => {
  const settings = useAnswer({
    key,
    ask: async (signal): Promise<Version<Part>> => {
      const { answer, tag } = await gatewaySettingsGet.versioned({ signal })
      return { value: partOf(answer), tag }
    }
  })
  return (
    <>
      <p class="quiet">{words.fallbacks.hint}</p>
      <Answered of={settings} height={240}>
        {(version) => <Form version={version} />}
      </Answered>
    </>
  )
}
