"""Write to the summary that GitHub shows for a job."""

from __future__ import annotations

from ..files import reason_of
from .events import GitHubJob


def write_summary(job: GitHubJob, text: str) -> list[str]:
    """Add a text to the summary of a job, and return what a person should know."""
    if job.summary is None:
        return ["GITHUB_STEP_SUMMARY is not set, so there is no summary"]
    try:
        with job.summary.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        return [f"the summary cannot be written ({reason_of(error)})"]
    return []
