set -e
python3 -c "import hello; assert hello.greet('Ann') == 'good day Ann'"
git merge-base --is-ancestor feature HEAD
test -z "$(git status --porcelain hello.py)"
