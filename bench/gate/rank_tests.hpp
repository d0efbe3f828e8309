// By how much one set of rounds is slower than another, and whether that could be chance. By ranks alone:
// nothing is assumed of how timings are distributed, and a round that went wrong weighs no more than the
// next one (of pairs: no more than the rank of the largest difference).
//
//   Hodges, Lehmann: Estimates of Location Based on Rank Tests, 1963 (the shift and its interval)
//   Mann, Whitney: On a Test of Whether one of Two Random Variables …, 1947 (the probability)
//   Wilcoxon: Individual Comparisons by Ranking Methods, 1945 (that of rounds in pairs)
//   Holm: A Simple Sequentially Rejective Multiple Test Procedure, 1979
#pragma once

#include <vector>

namespace trine::bench {

/// Rounds of one side: a double counts the orders of 2 x 500.
constexpr int kMostRounds = 500;

/// P(U >= u) of Mann and Whitney's U when both sets, of n and m, are of one kind.
double mann_whitney(int n, int m, double u);
/// P(W >= w) of Wilcoxon's W, the sum of the ranks of the positive ones of n differences, when either sign
/// is as likely.
double wilcoxon(int n, double w);

/// On a logarithmic scale: +0.1 is about 10 % slower.
struct Shift {
  double estimate = 0;  ///< the median of all pairwise differences; of pairs, of all means of two
  double low = 0,
         high =
             0;  ///< its interval, which holds it nine times in ten; infinite with too few rounds
  double slower = 1, faster = 1;  ///< probability of such rounds if it were no more than the margin
};

/// `margin` >= 0 on the same scale; all seconds above 0.
Shift shift_between(const std::vector<double>& base, const std::vector<double>& next,
                    double margin);
/// The same of rounds that were measured in pairs, base[i] beside next[i]: what befalls both of a pair
/// alike is no difference.
Shift shift_of_pairs(const std::vector<double>& base, const std::vector<double>& next,
                     double margin);

/// The same probabilities, corrected for their number so that at `alpha` the chance of even one false
/// alarm among them is at most `alpha`.
std::vector<double> holm(const std::vector<double>& probabilities);

/// Rounds a side, or pairs, from which on the rarest outcome of one case among `cases` is rarer than `alpha`.
int rounds_needed(int cases, double alpha, bool pairs);

}  // namespace trine::bench
