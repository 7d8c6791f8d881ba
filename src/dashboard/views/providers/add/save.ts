/** Stores what the wizard has put together; before that nothing of it is stored. */
import {
  combosGet,
  combosUpdate,
  providerNodesCreate,
  providerNodesRemove,
  providersCreate
} from "../../../api/calls.generated.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { connectionOf, nodeOf, providerIdOf, type Target, type Typed } from "./target.ts"

type Created = AnswerOf<typeof providersCreate>["connection"]

/** A server whose connection is refused does not stay behind alone. */
const withServer = async (target: Target, typed: Typed): Promise<Created> => {
  const { node } = await providerNodesCreate({ body: nodeOf(typed) })
  try {
    const { connection } = await providersCreate({ body: { ...connectionOf(target, typed), provider: node.prefix } })
    return connection
  } catch (error) {
    await providerNodesRemove({ path: { id: node.id } }).catch(() => undefined)
    throw error
  }
}

export const saveConnection = async (target: Target, typed: Typed): Promise<Created> => {
  if (target._tag === "New") return withServer(target, typed)
  const provider = providerIdOf(target, typed)
  const { connection } = await providersCreate({ body: { ...connectionOf(target, typed), provider } })
  return connection
}

/** Puts a model at the end of a combo's targets; gives the way back. */
export const addToCombo = async (comboId: string, model: string): Promise<() => Promise<unknown>> => {
  const { answer, tag } = await combosGet.versioned({ path: { id: comboId } })
  const { targets } = answer.combo
  await combosUpdate({
    path: { id: comboId },
    body: { targets: [...targets, { model }] },
    ifMatch: tag ?? undefined
  })
  return () => combosUpdate({ path: { id: comboId }, body: { targets } })
}
