/** Changes an account over the version that is shown. Two edits of one version are merged; what is secret is sent only where it was typed. */
import type { AnswerOf } from "../../../api/client.ts"
import { type providersGet, providersUpdate } from "../../../api/calls.generated.ts"
import { queries } from "../../../api/queries.ts"
import { EditForm } from "../../../forms/EditForm.tsx"
import type { FieldSchema } from "../../../forms/operations.ts"
import { useOperation } from "../../../forms/useOperation.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { isSame } from "../../../ui/merge/merge.ts"
import type { Version } from "../../../ui/merge/saving.ts"
import { words } from "../../../words/account.ts"
import { renewAccounts } from "../actions.ts"
import { type Connection, nameOf } from "../names.ts"

/** Fields of the form, in their order. The others are changed at places of their own. */
const names = [
  "name",
  "apiKey",
  "baseUrl",
  "priority",
  "defaultModel",
  "models",
  "maxConcurrent",
  "tier",
  "wires",
  "quotas",
  "headers",
  "transport"
] as const

type Name = (typeof names)[number]

/** An account as it is edited: without the secrets, which are masked. */
export type Editable = Readonly<Partial<Record<Name, unknown>>>

export const editableOf = (connection: Connection): Editable => {
  const { transport } = connection
  if (transport === null) return pick({ ...connection, transport: null })
  const { key: _masked, ...rest } = transport
  return pick({ ...connection, transport: rest })
}

const pick = (connection: Readonly<Record<string, unknown>>): Editable =>
  Object.fromEntries(names.flatMap((name) => (name === "apiKey" ? [] : [[name, connection[name]]])))

/** Typed unseen, however long it may be. */
const secret = ({ maxLength: _most, ...field }: FieldSchema): FieldSchema => ({ ...field, format: "password" })

const schemaOf = (body: FieldSchema): FieldSchema => ({
  ...body,
  properties: Object.fromEntries(
    names.flatMap((name) => {
      const field = body.properties?.[name]
      if (field === undefined) return []
      return [[name, name === "apiKey" ? secret(field) : field]]
    })
  )
})

/** The fields that an edit has changed. */
export const changedIn = (base: Editable, mine: Editable): Readonly<Record<string, unknown>> =>
  Object.fromEntries(names.flatMap((name) => (isSame(base[name], mine[name]) ? [] : [[name, mine[name]]])))

interface Properties {
  readonly version: Version<Connection>
}

export const Edit = ({ version: { tag, value: connection } }: Properties) => {
  const operation = useOperation("providersUpdate")
  const { id } = connection
  return (
    <section class="card stack" aria-labelledby="edit">
      <h2 id="edit">{words.edit.title}</h2>
      {connection.source === "env" ? (
        <p class="quiet">{words.edit.env}</p>
      ) : (
        <>
          <p class="quiet">{words.edit.hint}</p>
          <Answered of={operation} height={400}>
            {({ body }) => (
              <EditForm<Editable>
                name={nameOf(connection)}
                schema={schemaOf(body ?? {})}
                version={{ value: editableOf(connection), tag }}
                shown={(current) => editableOf((current as AnswerOf<typeof providersGet>).connection)}
                send={async (value, ifMatch, base) => {
                  const { answer, tag: next } = await providersUpdate.versioned({
                    path: { id },
                    body: changedIn(base, value),
                    ifMatch
                  })
                  queries.setQueryData(["connection", id], { value: answer.connection, tag: next })
                  renewAccounts()
                  return { value: editableOf(answer.connection), tag: next }
                }}
              />
            )}
          </Answered>
          <CopyAs
            call={providersUpdate}
            path={{ id }}
            body={{ name: connection.name, priority: connection.priority }}
          />
        </>
      )}
    </section>
  )
}
