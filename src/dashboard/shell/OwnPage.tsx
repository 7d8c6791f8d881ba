/** The page of who holds an API key, at `/dashboard/me`: apart from the others, because it has no session and shows nothing of theirs. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { placeOf } from "../ui/address/places.ts"

export const isOwnPage = (): boolean => location.pathname.replace(/\/$/, "") === placeOf("me")

export const OwnPage = () => {
  const view = useSignal<{ readonly Me: () => preact.JSX.Element } | null>(null)
  useEffect(() => {
    const load = async (): Promise<void> => {
      view.value = await import("../views/me/Me.tsx")
    }
    void load()
  }, [view])
  return view.value === null ? null : <view.value.Me />
}
