/** Steps whose failure is told beside everything else on the page, because no form shows it. */
import { toast } from "../toasts.tsx"

/** Takes a step; tells why it failed, if it did. */
export const attempt = async (step: () => Promise<unknown>): Promise<void> => {
  try {
    await step()
  } catch (error) {
    toast("bad", (error as Error).message)
  }
}
