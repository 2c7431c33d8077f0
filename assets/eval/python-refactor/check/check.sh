set -e
python3 -c "
import names, orders, users, shops
assert names.clean('  ann   lee ') == 'Ann Lee'
assert orders.order_name(' ann  lee') == \"Ann Lee's order\"
assert users.user_name('bob ') == 'Bob'
assert shops.shop_name('tea  house') == 'Tea House Shop'
"
! grep -n "split()" orders.py users.py shops.py
