/** A server of the operator's own: changed over the version that is shown, and deleted with its accounts. */
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { providerNodesGet, providerNodesRemove, providerNodesUpdate } from "../../../api/calls.generated.ts"
import { queries, refresh, useAnswer } from "../../../api/queries.ts"
import { EditForm } from "../../../forms/EditForm.tsx"
import type { FieldSchema } from "../../../forms/operations.ts"
import { useOperation } from "../../../forms/useOperation.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { isSame } from "../../../ui/merge/merge.ts"
import type { Version } from "../../../ui/merge/saving.ts"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/providerModels.ts"
import { renewAccounts } from "../actions.ts"

type Stored = AnswerOf<typeof providerNodesGet>["node"]
type Editable = Omit<Stored, "id" | "createdAt" | "updatedAt">

const editableOf = ({ createdAt: _created, id: _id, updatedAt: _updated, ...rest }: Stored): Editable => rest

const changedIn = (base: Editable, mine: Editable): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(mine).filter(([name, value]) => !isSame((base as Readonly<Record<string, unknown>>)[name], value))
  )

const Shown = ({ version: { tag, value: node } }: { readonly version: Version<Stored> }) => {
  const { route } = useLocation()
  const operation = useOperation("providerNodesUpdate")
  const { id } = node
  const name = visible(node.name)
  return (
    <>
      <header class="view-head">
        <div>
          <p>
            <a href={placeOf("providers/nodes")}>{words.nodes.back}</a>
          </p>
          <h2>{name}</h2>
        </div>
        <div class="buttons">
          <a class="button" href={placeOf(`providers?q=${encodeURIComponent(node.prefix)}`)}>
            {words.nodes.accounts}
          </a>
          <a class="button" href={placeOf(`providers/add/${encodeURIComponent(node.prefix)}`)}>
            {words.nodes.addKey}
          </a>
        </div>
      </header>
      <section class="card stack" aria-labelledby="edit">
        <h3 id="edit">{words.nodes.edit}</h3>
        <p class="quiet">{words.nodes.apiKeyHint}</p>
        <Answered of={operation} height={400}>
          {({ body }) => (
            <EditForm<Editable>
              name={name}
              schema={body ?? ({} satisfies FieldSchema)}
              version={{ value: editableOf(node), tag }}
              shown={(current) => editableOf((current as AnswerOf<typeof providerNodesGet>).node)}
              send={async (value, ifMatch, base) => {
                const { answer, tag: next } = await providerNodesUpdate.versioned({
                  path: { id },
                  body: changedIn(base, value),
                  ifMatch
                })
                queries.setQueryData(["node", id], { value: answer.node, tag: next })
                void refresh("nodes")
                renewAccounts()
                return { value: editableOf(answer.node), tag: next }
              }}
            />
          )}
        </Answered>
      </section>
      <div class="account-end">
        <CopyAs call={providerNodesGet} path={{ id }} />
        <DangerButton
          verb={words.nodes.remove.verb}
          title={words.nodes.remove.title(name)}
          means={words.nodes.remove.means(name)}
          name={node.name}
          run={async () => {
            await providerNodesRemove({ path: { id } })
            toast("good", words.nodes.remove.done(name))
            queries.removeQueries({ queryKey: ["node", id] })
            void refresh("nodes")
            renewAccounts()
            route(placeOf("providers/nodes"))
          }}
        />
      </div>
    </>
  )
}

export const Node = ({ id }: { readonly id: string }) => {
  const node = useAnswer({
    key: ["node", id],
    ask: async (signal): Promise<Version<Stored>> => {
      const { answer, tag } = await providerNodesGet.versioned({ path: { id }, signal })
      return { value: answer.node, tag }
    }
  })
  return (
    <Answered of={node} height={400}>
      {(version) => <Shown key={id} version={version} />}
    </Answered>
  )
}
