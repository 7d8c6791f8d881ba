/** A model as the catalogue has it. */
import type { AnswerOf } from "../../../api/client.ts"
import type { modelCatalogList } from "../../../api/calls.generated.ts"

export type Model = AnswerOf<typeof modelCatalogList>["models"][number]
