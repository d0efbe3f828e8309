// Bodies that run in forked children.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace trine::testing {

/// The text that body() returns in a forked child: what is wrong there, "" where all is well.
template <class Body>
std::string in_child(Body&& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const std::string wrong = body();
    const ssize_t written = write(ends[1], wrong.data(), wrong.size());
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string said;
  char piece[256];
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, size_t(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? said : said + "; it died, status " + std::to_string(status);
}

}  // namespace trine::testing
