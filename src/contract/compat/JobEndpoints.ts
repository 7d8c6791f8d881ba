/** Jobs that make videos and music as endpoints, for `CompatApi`. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import { words } from "./Described.ts"
import * as Media from "./Media.ts"

type Kind = "film" | "music"

const shown = (kind: Kind) => words(`Show a job (${kind})`, "How it stands and, once it is completed, what was made.")
const ended = (kind: Kind) =>
  words(`End a job (${kind})`, "Cancels a job that runs, also at the provider; forgets one that is over.")
const cancelled = (kind: Kind) => words(`Cancel a job (${kind})`, "Also at the provider, where it has a way to.")
const fetched = (kind: Kind) =>
  words(`Fetch what a job has made (${kind})`, "Its bytes, or a redirect to where the provider keeps them.")

const videos = "/v1/videos/generations/:job"
const songs = "/v1/music/generations/:job"

export const createVideo = HttpApiEndpoint.post("createVideo", "/v1/videos")
  .setPayload(Media.VideoForm)
  .addSuccess(Media.JobAnswer)
  .annotateContext(
    words(
      "Begin a film",
      "OpenAI's own request for a film, as a form or as JSON. It is a job in any case: ask how it stands by its id, and fetch it from `/v1/videos/{id}/content`."
    )
  )

export const videoJobs = HttpApiEndpoint.get("videoJobs", "/v1/videos")
  .setUrlParams(Media.JobPage)
  .addSuccess(Media.JobList)
  .annotateContext(words("List jobs (film)", "Those of the caller that are not forgotten yet, newest first."))

export const video = HttpApiEndpoint.get("video", videos)
  .setPath(Media.jobId)
  .addSuccess(Media.JobAnswer)
  .annotateContext(shown("film"))

export const deleteVideo = HttpApiEndpoint.del("deleteVideo", videos)
  .setPath(Media.jobId)
  .addSuccess(Media.JobEnded)
  .annotateContext(ended("film"))

export const cancelVideo = HttpApiEndpoint.post("cancelVideo", `${videos}/cancel`)
  .setPath(Media.jobId)
  .addSuccess(Media.JobAnswer)
  .annotateContext(cancelled("film"))

export const videoContent = HttpApiEndpoint.get("videoContent", `${videos}/content`)
  .setPath(Media.jobId)
  .addSuccess(Media.JobContent)
  .annotateContext(fetched("film"))

export const song = HttpApiEndpoint.get("song", songs)
  .setPath(Media.jobId)
  .addSuccess(Media.JobAnswer)
  .annotateContext(shown("music"))

export const deleteSong = HttpApiEndpoint.del("deleteSong", songs)
  .setPath(Media.jobId)
  .addSuccess(Media.JobEnded)
  .annotateContext(ended("music"))

export const cancelSong = HttpApiEndpoint.post("cancelSong", `${songs}/cancel`)
  .setPath(Media.jobId)
  .addSuccess(Media.JobAnswer)
  .annotateContext(cancelled("music"))

export const songContent = HttpApiEndpoint.get("songContent", `${songs}/content`)
  .setPath(Media.jobId)
  .addSuccess(Media.JobContent)
  .annotateContext(fetched("music"))
