/** Pauses a key and lets it work again; each is taken back by the other. */
import type { ApiError } from "../../api/ApiError.ts"
import { keysPatch } from "../../api/calls.generated.ts"
import { refresh } from "../../api/queries.ts"
import { visible } from "../../ui/format.ts"
import { toast } from "../../ui/toasts.tsx"
import { words } from "../../words/keys.ts"

export const switchKey = async (
  key: { readonly id: string; readonly name: string },
  isActive: boolean
): Promise<void> => {
  try {
    await keysPatch({ path: { id: key.id }, body: { isActive } })
    toast("good", (isActive ? words.isResumed : words.isPaused)(visible(key.name)), {
      label: words.undo,
      run: () => void switchKey(key, !isActive)
    })
  } catch (failure) {
    toast("bad", visible((failure as ApiError).message))
  } finally {
    void refresh("keys")
  }
}
