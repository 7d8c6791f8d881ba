/** One plugin, as the API shows it. */
import type { AnswerOf } from "../../../api/client.ts"
import type { pluginsGet } from "../../../api/calls.generated.ts"

export type Plugin = AnswerOf<typeof pluginsGet>["plugin"]
