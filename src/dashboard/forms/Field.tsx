/** One field of a form, with its name, what it means, and what is wrong with it. */
import type { ComponentChildren } from "preact"
import { Editor } from "../ui/editor/Editor.tsx"
import { Prose } from "../ui/Prose.tsx"
import { State } from "../ui/State.tsx"
import { words } from "../words/forms.ts"
import { type Cleared, pathOf, type Texts } from "./body.ts"
import { type FieldKind, isNullable, kindOf } from "./fields.ts"
import type { FieldSchema } from "./operations.ts"

export interface FormState {
  /** Begins the ids of its fields, where a page has several forms. */
  readonly scope?: string
  /** True when it shows what is stored: an empty choice is one of its values, and not "as it is". */
  readonly isFilled?: boolean
  readonly texts: Texts
  readonly cleared: Cleared
  /** Problems by the path of a field, in words. */
  readonly problems: Readonly<Record<string, string>>
  readonly setText: (path: string, text: string) => void
  readonly setCleared: (path: string, isCleared: boolean) => void
  /** Groups that are shown and cannot be edited here: why, by their path. */
  readonly locked?: Readonly<Record<string, string>>
}

interface Properties {
  readonly name: string
  readonly path: string
  readonly schema: FieldSchema
  readonly isRequired: boolean
  readonly form: FormState
  /** A field of the address cannot be taken away. */
  readonly isClearable?: boolean
}

const hintOf = (kind: FieldKind, { description, examples }: FieldSchema, isFilled: boolean): string => {
  // What is stored is the best example.
  const [example] = isFilled ? [] : (examples ?? [])
  const shape = kind._tag === "Lines" ? ` ${words.perLine}` : kind._tag === "Json" ? ` ${words.json}` : ""
  const such =
    example === undefined || example === null
      ? ""
      : ` (${words.example(typeof example === "string" ? example : JSON.stringify(example))})`
  return `${description ?? ""}${shape}${such}`.trim()
}

interface InputProperties {
  readonly id: string
  readonly kind: FieldKind
  readonly schema: FieldSchema
  readonly text: string
  readonly isDisabled: boolean
  readonly isWrong: boolean
  readonly isFilled: boolean
  readonly onText: (text: string) => void
}

const rowsOf = (text: string): number => Math.min(16, Math.max(2, text.split("\n").length + 1))

interface OptionsProperties {
  readonly choices: ReadonlyArray<string>
  readonly words?: ReadonlyArray<string>
  /** Null: what is empty is no choice. */
  readonly empty: string | null
}

const Options = ({ choices, empty, words: named }: OptionsProperties) => (
  <>
    {empty !== null && <option value="">{empty}</option>}
    {choices.map((choice, index) => (
      <option key={choice} value={choice}>
        {named?.[index] ?? choice}
      </option>
    ))}
  </>
)

const Several = ({
  choices,
  id,
  onText,
  text
}: {
  id: string
  choices: ReadonlyArray<string>
  text: string
  onText: (text: string) => void
}) => {
  const chosen = new Set(text.split("\n").filter((line) => line !== ""))
  return (
    <span class="several" id={id} role="group">
      {choices.map((choice) => (
        <label key={choice}>
          <input
            type="checkbox"
            checked={chosen.has(choice)}
            onChange={({ currentTarget }) => {
              if (currentTarget.checked) chosen.add(choice)
              else chosen.delete(choice)
              onText(choices.filter((one) => chosen.has(one)).join("\n"))
            }}
          />{" "}
          {choice}
        </label>
      ))}
    </span>
  )
}

const Input = ({ id, isDisabled, isFilled, isWrong, kind, onText, schema, text }: InputProperties) => {
  const shared = {
    id,
    class: "input",
    disabled: isDisabled,
    "aria-invalid": isWrong,
    "aria-describedby": `${id}-hint`,
    value: text
  }
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }): void => onText(currentTarget.value)
  const editor = (language: "json" | "text") => (
    <Editor
      id={id}
      language={language}
      text={text}
      onText={onText}
      isDisabled={isDisabled}
      isWrong={isWrong}
      describedBy={`${id}-hint`}
    />
  )
  const empty = !isFilled ? words.asItIs : text === "" || isNullable(schema) ? words.notSet : null
  switch (kind._tag) {
    case "Choice":
      return (
        <select {...shared} onChange={onInput}>
          <Options choices={kind.choices} empty={empty} />
        </select>
      )
    case "Yes":
      return (
        <select {...shared} onChange={onInput}>
          <Options choices={["true", "false"]} words={[words.yes, words.no]} empty={empty} />
        </select>
      )
    case "Number":
      return (
        <input
          {...shared}
          type="number"
          step={kind.isWhole ? 1 : "any"}
          min={schema.minimum}
          max={schema.maximum}
          onInput={onInput}
        />
      )
    case "Several":
      return <Several id={id} choices={kind.choices} text={text} onText={onText} />
    case "Text":
      if (kind.isVeryLong) return editor("text")
      if (kind.isLong) return <textarea {...shared} rows={rowsOf(text)} onInput={onInput} />
      return kind.isSecret ? (
        <input {...shared} type="password" autocomplete="off" onInput={onInput} />
      ) : (
        <input {...shared} type="text" autocomplete="off" spellcheck={false} onInput={onInput} />
      )
    case "Group":
    case "Json":
      return editor("json")
    default:
      return <textarea {...shared} class="input mono" rows={rowsOf(text)} spellcheck={false} onInput={onInput} />
  }
}

const Legend = ({ children, isRequired }: { children: ComponentChildren; isRequired: boolean }) => (
  <>
    {children}
    {isRequired && <span class="quiet"> · {words.required}</span>}
  </>
)

/** Draws the members of an object, one below the other. */
export const Fields = ({ form, path, schema }: { schema: FieldSchema; path: string; form: FormState }) => (
  <>
    {Object.entries(schema.properties ?? {})
      .filter(([, member]) => member.readOnly !== true)
      .map(([name, member]) => (
        <Field
          key={name}
          name={member.title ?? name}
          path={pathOf(path, name)}
          schema={member}
          isRequired={schema.required?.includes(name) ?? false}
          form={form}
          isClearable={isNullable(member)}
        />
      ))}
  </>
)

export const Field = ({ form, isClearable = false, isRequired, name, path, schema }: Properties) => {
  const kind = kindOf(schema)
  const id = `${form.scope ?? ""}field-${path}`
  const isCleared = form.cleared.has(path)
  const isFilled = form.isFilled ?? false
  const problem = form.problems[path] ?? ""
  // What is filled in is taken away by emptying it.
  const clear = isClearable && !isFilled && (
    <button type="button" class="button plain" onClick={() => form.setCleared(path, !isCleared)}>
      {isCleared ? words.keep : words.clear}
    </button>
  )
  if (kind._tag === "Group") {
    const lock = form.locked?.[path]
    return (
      <fieldset class="group" disabled={lock !== undefined}>
        <legend>
          <Legend isRequired={isRequired && !isFilled}>{name}</Legend> {clear}
        </legend>
        <p class="quiet">{isCleared ? words.cleared : <Prose text={schema.description ?? ""} />}</p>
        {lock !== undefined && (
          <p>
            <State kind="quiet">{words.locked}</State> {lock}
          </p>
        )}
        {!isCleared && <Fields schema={kind.schema} path={path} form={form} />}
      </fieldset>
    )
  }
  return (
    <div class="field">
      <span class="field-head">
        <label for={id}>
          <Legend isRequired={isRequired && !isFilled}>{name}</Legend>
        </label>
        {clear}
      </span>
      <Input
        id={id}
        kind={kind}
        schema={schema}
        text={form.texts[path] ?? ""}
        isDisabled={isCleared}
        isFilled={isFilled}
        isWrong={problem !== ""}
        onText={(text) => form.setText(path, text)}
      />
      <p id={`${id}-hint`} class="hint">
        {isCleared ? words.cleared : <Prose text={hintOf(kind, schema, isFilled)} />}
      </p>
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
